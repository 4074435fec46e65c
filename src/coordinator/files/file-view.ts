/** Files and their versions as the API returns them. */
import { Type } from 'typebox'
import { file, fileVersion, listedFile } from '../../resources/file.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import type { FileRecord, FileVersionRecord } from './file-queries.js'

/** For lists: without the source. */
export const fileSchema = answerSchema(listedFile)
export const wholeFileSchema = answerSchema(file.fields)

const makeAnswer = answerMaker(listedFile)

export function toFileView(record: FileRecord) {
  return makeAnswer(record, { sha: `"${record.sha}"` })
}

export function toWholeFileView(record: FileRecord & { readonly source: string }) {
  return { ...toFileView(record), source: record.source }
}

export const versionSchema = answerSchema(fileVersion)
export const wholeVersionSchema = Type.Object(
  { ...versionSchema.properties, source: wholeFileSchema.properties.source },
  { additionalProperties: false },
)

const makeVersionAnswer = answerMaker(fileVersion)

export function toVersionView(version: Omit<FileVersionRecord, 'source'>) {
  return makeVersionAnswer(version, { sha: `"${version.sha}"` })
}
