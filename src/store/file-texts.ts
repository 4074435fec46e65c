/** The texts of chosen file versions, as a deploy needs them. */
import type { Queries } from './store.js'

export interface FileText {
  readonly id: number
  readonly name: string
  readonly version: number
  /** As the caller gave it: text, or base64 when encoded. */
  readonly source: string
  readonly encoded: boolean
}

export interface ChosenVersion {
  readonly id: number
  /** Null: the newest. */
  readonly version: number | null
}

/** In the order of the choice; what does not exist is left out. One query. */
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
  const byId = new Map(rows.map((row) => [row.id, { ...row, encoded: row.encoded === 1 }]))
  return chosen.flatMap(({ id }) => byId.get(id) ?? [])
}
