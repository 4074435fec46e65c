/** One file: its text, its versions, and the differences between them. */
import type { Group } from '../../../resources/vclgroup.js'
import { useList } from '../../api/list.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { ObjectActions } from '../../parts/object-actions.js'
import { Owner } from '../../parts/owner.js'
import { Sections } from '../../parts/sections.js'
import { StateChip } from '../../parts/state-chip.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useDelete, type Deletion } from '../../parts/use-delete.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { groupEvents } from '../group/group-events.js'
import { Conflict } from './conflict.js'
import { useEditedFile, type EditedFile, type Newest } from './edited-file.js'
import { CompareSection } from './compare.js'
import { useRunningVersions } from './read-running.js'
import { useVersions, type Versions } from './read-versions.js'
import { Rename } from './rename.js'
import type { RunningVersion } from './running-versions.js'
import { TextSection } from './text-section.js'
import { VersionsSection } from './versions.js'

export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const edited = useEditedFile(id)
  const users = useUsers(id)
  const newest = edited.newest.value
  const error = edited.error.value
  const versions = useVersions(id, newest?.file.version ?? 0)
  const running = useRunningVersions(Number(id), users)
  const deletion = useDelete()
  if (!newest)
    return (
      <>
        <ViewHead title="File" back={back} />
        {error ? <ErrorNote error={error} onRetry={() => void edited.load()} /> : <Loading />}
      </>
    )
  const here = `/files/${id}`
  return (
    <>
      <ViewHead title={newest.file.name} beside={<Beside edited={edited} />} back={back}>
        {mayWrite('file') && <FileActions edited={edited} newest={newest} deletion={deletion} />}
      </ViewHead>
      <Sections
        label="Parts of the file"
        items={[
          { href: here, title: 'Text' },
          { href: `${here}/versions`, title: 'Versions' },
          ...(newest.file.encoded ? [] : [{ href: `${here}/compare`, title: 'Compare' }]),
        ]}
      />
      {error && <ErrorNote error={error} />}
      {deletion.error && <ErrorNote error={deletion.error} />}
      <Section
        name={params['section'] ?? ''}
        edited={edited}
        users={users}
        versions={versions}
        running={running}
      />
      <Conflict edited={edited} />
    </>
  )
}

const back = { href: '/files', title: 'VCL' }

function Section(props: {
  readonly name: string
  readonly edited: EditedFile
  readonly users: readonly Group[]
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
}) {
  const { name, edited, users, versions, running } = props
  const newest = edited.newest.value
  if (!newest) return null
  if (name === '')
    return edited.state.value ? (
      <TextSection
        edited={edited}
        users={users}
        versions={versions}
        running={running}
        file={newest.file}
      />
    ) : (
      <Empty icon="file" title="This file is not text">
        <p>Its versions are still kept; upload a file of the same name in the list to add one.</p>
      </Empty>
    )
  const shared = { edited, versions, running }
  if (name === 'versions') return <VersionsSection {...shared} file={newest.file} />
  if (name === 'compare' && !newest.file.encoded)
    return <CompareSection {...shared} newest={newest.file.version} />
  return <Empty icon="search" title="There is nothing at this address" />
}

function Beside({ edited }: { readonly edited: EditedFile }) {
  const version = edited.newest.value?.file.version ?? 0
  const begun = edited.base.value?.version ?? 0
  return (
    <>
      {edited.isOutdated.value ? (
        <StateChip state={`version ${begun}, newest ${version}`} tone="warn" />
      ) : (
        <StateChip state={`version ${version}`} tone="calm" />
      )}
      {edited.newest.value && <Owner of={edited.newest.value.file} />}
      {edited.isChanged.value && <StateChip state="not saved" tone="warn" />}
    </>
  )
}

interface FileActionsProps {
  readonly edited: EditedFile
  readonly newest: Newest
  readonly deletion: Deletion
}

function FileActions({ edited, newest, deletion }: FileActionsProps) {
  const { file, etag } = newest
  const { id, name } = file
  const renaming = useDialog<string>()
  return (
    <>
      <ObjectActions
        verb="Rename"
        isDeleting={deletion.isBusy}
        onEdit={() => {
          renaming.open(name)
        }}
        onDelete={() =>
          void deletion.ask({
            path: `/files/${id}`,
            etag,
            noun: 'file',
            name,
            home: '/files',
            text: `All its versions (${file.version}) are deleted for good. Caches keep what is deployed.`,
            then: () => {
              edited.state.value = null
            },
          })
        }
      />
      {renaming.subject !== null && (
        <Rename edited={edited} before={renaming.subject} onClose={renaming.close} />
      )}
    </>
  )
}

/** The groups that the file is part of. */
function useUsers(id: string): readonly Group[] {
  const follow = groupEvents
  const asMain = useList<Group>('/vclgroups', { query: { 'mainVCL.id': id }, follow })
  const asInclude = useList<Group>('/vclgroups', { query: { 'includes.id': id }, follow })
  return [...new Map([...asMain.rows, ...asInclude.rows].map((row) => [row.id, row])).values()]
}
