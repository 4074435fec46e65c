/** Files: VCL and others, each with immutable versions of its content. */
import { id, integer, managedBy, organization, text } from './common-fields.js'
import { time, times, uniqueName } from './common-fields.js'
import type { Answer, Fields, Resource } from './resource.js'

export const fileTypes = { main: 1, include: 2, other: 3, test: 4 } as const

const sha = {
  kind: 'text',
  computed: true,
  description: 'SHA-256 (hex) over the decoded bytes, in literal double quotes',
} as const

const version = { ...integer, minimum: 1 } as const

/** Too long for lists. */
const source = {
  kind: 'source',
  computed: true,
  description: 'VCL text, or base64 when encoded',
  write: { required: true, summary: 'the content: a text, @FILE, or - for standard input' },
} as const

/** The fields in lists. */
export const listedFile = {
  id,
  name: uniqueName,
  organization,
  contentType: {
    kind: 'text',
    limitCharacters: 512,
    write: { nullable: true, summary: 'media type' },
  },
  encoded: {
    kind: 'flag',
    description: 'The source is base64',
    write: { nullable: true, default: false },
  },
  fileType: {
    kind: 'words',
    of: Object.values(fileTypes),
    title: 'type',
    description:
      '1 main, 2 include, 3 other, 4 test of VCL; unless given 1 when the text declares a VCL version, ' +
      '2 for other text, 3 for binary',
    write: { nullable: true, summary: '1 main, 2 include, 3 other, 4 test of VCL' },
  },
  sha,
  version,
  managedBy,
  ...times,
} as const satisfies Fields

export const file = {
  noun: 'file',
  permission: 'file',
  event: 'file',
  path: '/files',
  nameField: 'name',
  columns: ['id', 'name', 'version', 'fileType', 'encoded', 'updated'],
  fields: { ...listedFile, source },
} as const satisfies Resource

export type FleetFile = Answer<typeof listedFile>
export type WholeFile = Answer<typeof file.fields>

/** A version, without its source. */
export const fileVersion = {
  version,
  contentType: text,
  encoded: { kind: 'flag' },
  sha,
  account: { ...text, description: 'Who created it' },
  created: { ...time, column: 'createdAt' },
} as const satisfies Fields

export type FileVersion = Answer<typeof fileVersion>
export type WholeVersion = FileVersion & Pick<WholeFile, 'source'>
