/** The versions of a file, newest first: the changes of each, and a way to restore one. */
import { useMemo } from 'preact/hooks'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { FileVersion, WholeFile, WholeVersion } from '../../../resources/file.js'
import type { Outcome } from '../../api/http.js'
import { Button } from '../../parts/button.js'
import { agoColumn } from '../../parts/columns.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Labels } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { toast } from '../../parts/toasts.js'
import { mayWrite } from '../../session/rights.js'
import type { EditedFile } from './edited-file.js'
import { formatWhere, type RunningVersion } from './running-versions.js'
import type { Versions } from './read-versions.js'

interface Row extends FileVersion {
  readonly id: number
  readonly where: readonly string[]
}

interface VersionsSectionProps {
  readonly edited: EditedFile
  readonly file: WholeFile
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
}

export function VersionsSection({ edited, file, versions, running }: VersionsSectionProps) {
  const mutation = useMutation()
  const { rows, error } = versions
  const shown = useMemo(() => (rows ?? []).map((row) => toRow(row, running)), [rows, running])
  const columns = useMemo(() => {
    const restore = (version: number): void => {
      const before = { source: file.source, encoded: file.encoded }
      void mutation.run(
        () => restoreVersion(edited, file.id, version),
        (now) => {
          const undo = (): void => {
            void mutation.run(() => edited.replace(before))
          }
          toast(`Version ${version} restored as version ${now.version}.`, { undo })
        },
      )
    }
    return columnsOf(file.version, mayWrite('file') ? restore : null)
  }, [file.version, file.source])
  return (
    <>
      {error && <ErrorNote error={error} />}
      {mutation.error && <ErrorNote error={mutation.error} />}
      {rows === null && !error && <Loading />}
      {shown.length > 0 && (
        <Table
          label="Versions"
          rows={shown}
          columns={columns}
          linkOf={({ version }) =>
            `/files/${file.id}/compare?from=${Math.max(1, version - 1)}&to=${version}`
          }
          sorting={{ title: 'Version', isDescending: true }}
          fills
        />
      )}
    </>
  )
}

function toRow(version: FileVersion, running: readonly RunningVersion[]): Row {
  const where = running.filter((one) => one.version === version.version).map(formatWhere)
  return { ...version, id: version.version, where }
}

async function restoreVersion(
  edited: EditedFile,
  fileId: number,
  version: number,
): Promise<Outcome<WholeFile>> {
  const read = await call<WholeVersion>('GET', `/files/${fileId}/versions/${version}`)
  if (!read.ok) return read
  const { source, encoded } = read.value
  return edited.replace({ source, encoded })
}

function columnsOf(
  newest: number,
  restore: ((version: number) => void) | null,
): readonly Column<Row>[] {
  return [
    {
      title: 'Version',
      show: ({ version }) => `Version ${version}`,
      sortBy: ({ version }) => version,
    },
    agoColumn('Created', ({ created }) => created, { from: 'medium' }),
    {
      title: 'By',
      from: 'medium',
      show: ({ account }) => account,
      sortBy: ({ account }) => account,
    },
    { title: 'Runs on', from: 'medium', show: ({ where }) => <Labels words={where} /> },
    {
      title: 'SHA-256',
      width: '10rem',
      from: 'wide',
      show: ({ sha }) => <code>{sha.slice(1, 13)}</code>,
    },
    ...(restore
      ? [
          {
            title: 'Restore',
            width: '7.5rem',
            show: ({ version }: Row) =>
              version === newest ? (
                <span class="quiet">newest</span>
              ) : (
                <Button
                  onClick={() => {
                    restore(version)
                  }}
                >
                  Restore
                </Button>
              ),
          },
        ]
      : []),
  ]
}
