/** What the API answers of files and their versions. */
import { Type } from 'typebox'
import { idSchema, managedBySchema, organizationSchema, timeSchema } from '../api/references.js'
import type { FileVersionRecord } from './file-versions.js'
import type { FileRecord } from './files.js'
import { toTimes, toIso } from '../api/times.js'

const closed = { additionalProperties: false }

const fileFields = {
  id: idSchema,
  name: Type.String(),
  organization: organizationSchema,
  contentType: Type.String(),
  encoded: Type.Boolean({ description: 'The source is base64' }),
  fileType: Type.Integer({ description: '1 main, 2 include, 3 other' }),
  sha: Type.String({
    description: 'SHA-256 (hex) over the decoded bytes, in literal double quotes',
    pattern: '^"[0-9a-f]{64}"$',
  }),
  version: Type.Integer({ minimum: 1 }),
  managedBy: managedBySchema,
  created: timeSchema,
  updated: timeSchema,
}
const sourceSchema = Type.String({ description: 'VCL text, or base64 when encoded' })

/** As lists have it: without the source. */
export const fileSchema = Type.Object(fileFields, closed)
export const wholeFileSchema = Type.Object({ ...fileFields, source: sourceSchema }, closed)

export function toFileView(file: FileRecord) {
  return {
    id: file.id,
    name: file.name,
    organization: file.organization,
    contentType: file.contentType,
    encoded: file.encoded,
    fileType: file.fileType,
    sha: `"${file.sha}"`,
    version: file.version,
    managedBy: file.managedBy,
    ...toTimes(file),
  }
}

export function toWholeFileView(file: FileRecord & { readonly source: string }) {
  return { ...toFileView(file), source: file.source }
}

const versionFields = {
  version: Type.Integer({ minimum: 1 }),
  contentType: Type.String(),
  encoded: Type.Boolean(),
  sha: fileFields.sha,
  account: Type.String({ description: 'Who made it' }),
  created: timeSchema,
}

export const versionSchema = Type.Object(versionFields, closed)
export const wholeVersionSchema = Type.Object({ ...versionFields, source: sourceSchema }, closed)

export function toVersionView(version: Omit<FileVersionRecord, 'source'>) {
  return {
    version: version.version,
    contentType: version.contentType,
    encoded: version.encoded,
    sha: `"${version.sha}"`,
    account: version.account,
    created: toIso(version.createdAt),
  }
}
