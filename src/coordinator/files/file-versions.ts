/** Lists, reads and compares the versions of a file. */
import { parseListQuery } from '../../resources/list-query.js'
import { readFileContent } from '../../vcl/file.js'
import { flattenedLimitBytes } from '../../vcl/limits.js'
import { FleetError } from '../../errors.js'
import {
  findVersion,
  selectVersions,
  toListedVersion,
  versionColumns,
  type FileRecord,
  type FileVersionRecord,
} from './file-queries.js'
import { readList } from '../store/list-query.js'
import { compareTimeoutMs } from './compare-here.js'
import { compareTexts } from './compare-texts.js'
import type { ListAnswer, ListParameters } from '../store/computed-list.js'
import type { StateService } from '../service.js'

export const versionListFields = Object.keys(versionColumns)

/** Without their sources. */
export async function listVersions(
  service: StateService,
  file: FileRecord,
  query: ListParameters,
): Promise<ListAnswer<Omit<FileVersionRecord, 'source'>>> {
  const list = parseListQuery(query, versionColumns, 'file')
  const versions = selectVersions(service.store.queries, file.id)
  const { rows, total } = await readList(versions, list, versionColumns)
  return { rows: rows.map(toListedVersion), total }
}

/** `version`: as in the path. Throws 'not-found'. */
export async function readVersion(
  service: StateService,
  file: FileRecord,
  version: string,
): Promise<FileVersionRecord> {
  const found = /^[1-9]\d{0,15}$/.test(version)
    ? await findVersion(service.store.queries, file.id, Number(version))
    : undefined
  if (!found)
    throw new FleetError(
      'not-found',
      'file',
      `version ${version.slice(0, 80)} of file ${file.id} was not found`,
    )
  return found
}

/** Returns a unified diff; empty if the contents are equal. */
export async function diffVersions(
  service: StateService,
  file: FileRecord,
  range: { readonly from: number; readonly to: number },
): Promise<string> {
  const from = await readVersion(service, file, `${range.from}`)
  const to = await readVersion(service, file, `${range.to}`)
  if (from.sha === to.sha) return ''
  const patch = await compareTexts(
    { name: `${file.name} version ${range.from}`, text: readText(from) },
    { name: `${file.name} version ${range.to}`, text: readText(to) },
  )
  if (patch === null) throw new FleetError('conflict', 'file', tooDifferent)
  return patch
}

const tooDifferent = `these versions differ too much to be compared within ${compareTimeoutMs} ms`

function readText(version: FileVersionRecord): string {
  const read = readFileContent(version)
  if (!read.ok || read.content.text === null)
    throw new FleetError(
      'conflict',
      'file',
      `version ${version.version} is not text; only texts can be compared`,
    )
  // The size limit of a flattened VCL; comparing larger texts would delay other calls.
  if (read.content.bytes.length > flattenedLimitBytes)
    throw new FleetError(
      'conflict',
      'file',
      `version ${version.version} is over ${flattenedLimitBytes} bytes; only smaller texts can be compared`,
    )
  return read.content.text
}
