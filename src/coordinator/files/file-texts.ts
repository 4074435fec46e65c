/** The texts of chosen file versions, for a deploy. */
import type { VclText } from '../../vcl/bundle.js'
import type { Queries } from '../store/store.js'

export interface FileText {
  readonly id: number
  readonly name: string
  readonly version: number
  /** As sent by the caller: text, or base64 if encoded. */
  readonly source: string
  readonly encoded: boolean
}

export interface ChosenVersion {
  readonly id: number
  /** Null: the head. */
  readonly version: number | null
}

/** In the order of `chosen`; missing versions are omitted. One query. */
export async function readFileTexts(
  queries: Queries,
  chosen: readonly ChosenVersion[],
): Promise<FileText[]> {
  if (chosen.length === 0) return []
  const rows = await queries
    .selectFrom('files')
    .innerJoin('fileVersions', 'fileVersions.fileId', 'files.id')
    .select([
      'files.id',
      'files.name',
      'files.version as head',
      'fileVersions.version',
      'fileVersions.source',
      'fileVersions.encoded',
    ])
    .where((e) =>
      e.or(
        chosen.map(({ id, version }) =>
          e.and([
            e('files.id', '=', id),
            version === null
              ? e('fileVersions.version', '=', e.ref('files.version'))
              : e('fileVersions.version', '=', version),
          ]),
        ),
      ),
    )
    .execute()
  // A file may be chosen in two versions.
  const found = new Map<string, FileText>()
  for (const { head, encoded, ...row } of rows) {
    const text = { ...row, encoded: encoded === 1 }
    found.set(keyOf({ id: row.id, version: row.version }), text)
    if (row.version === head) found.set(keyOf({ id: row.id, version: null }), text)
  }
  return chosen.flatMap((one) => found.get(keyOf(one)) ?? [])
}

function keyOf({ id, version }: ChosenVersion): string {
  return `${id} ${version ?? 'head'}`
}

/** The input for flattening. */
export function toVclText({ name, source, encoded }: FileText): VclText {
  return { name, text: encoded ? Buffer.from(source, 'base64').toString('utf8') : source }
}
