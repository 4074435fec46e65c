/** One file: its text, its versions, and what one of them differs in from another. */
import { useSignal } from '@preact/signals'
import { useLocation } from 'wouter-preact'
import { call } from '../../api/call.js'
import type { FileUser } from '../../api/file.js'
import { useList } from '../../api/list.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Sections } from '../../parts/sections.js'
import { StateChip } from '../../parts/state-chip.js'
import { toast } from '../../parts/toasts.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
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
  const { newest, error } = edited
  const versions = useVersions(id, newest?.file.version ?? 0)
  const running = useRunningVersions(Number(id), users)
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
        {mayWrite('file') && <Deeds edited={edited} newest={newest} />}
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
      <Section name={params['section'] ?? ''} {...{ edited, users, versions, running }} />
      <Conflict edited={edited} />
    </>
  )
}

const back = { href: '/files', title: 'VCL' }

function Section(props: {
  readonly name: string
  readonly edited: EditedFile
  readonly users: readonly FileUser[]
  readonly versions: Versions
  readonly running: readonly RunningVersion[]
}) {
  const { name, edited, users, versions, running } = props
  const { newest, state } = edited
  if (!newest) return null
  if (name === '')
    return state.value ? (
      <TextSection {...{ edited, users }} file={newest.file} />
    ) : (
      <Empty icon="file" title="This file is no text">
        <p>Its versions are kept all the same; an upload of its name in the list makes the next.</p>
      </Empty>
    )
  const shared = { edited, versions, running }
  if (name === 'versions') return <VersionsSection {...shared} file={newest.file} />
  if (name === 'compare' && !newest.file.encoded)
    return <CompareSection {...shared} newest={newest.file.version} />
  return <Empty icon="search" title="There is nothing at this address" />
}

function Beside({ edited }: { readonly edited: EditedFile }) {
  const version = edited.newest?.file.version ?? 0
  return (
    <>
      <StateChip state={`version ${version}`} tone="calm" />
      {edited.isChanged && <StateChip state="not saved" tone="warn" />}
    </>
  )
}

function Deeds(props: { readonly edited: EditedFile; readonly newest: Newest }) {
  const { edited, newest } = props
  const { file, etag } = newest
  const isRenaming = useSignal(false)
  const [, go] = useLocation()
  const remove = async (): Promise<void> => {
    const isSure = await confirmDestruction({
      title: `Delete ${file.name}?`,
      text: `Its ${file.version} versions go with it, and do not come back. What is deployed stays on its caches.`,
      verb: 'Delete',
      name: file.name,
    })
    if (!isSure) return
    const outcome = await call('DELETE', `/files/${file.id}`, { ifMatch: etag })
    if (!outcome.ok) {
      edited.tell(outcome.error)
      return
    }
    edited.forget()
    toast(`${file.name} is deleted.`)
    go('/files')
  }
  return (
    <>
      <Button icon="edit" onClick={() => (isRenaming.value = true)}>
        Rename
      </Button>
      <Button icon="remove" onClick={() => void remove()}>
        Delete
      </Button>
      {isRenaming.value && (
        <Rename
          edited={edited}
          onClose={() => {
            isRenaming.value = false
          }}
        />
      )}
    </>
  )
}

/** The groups that the file is part of. */
function useUsers(id: string): readonly FileUser[] {
  const follow = ['deployment'] as const
  const asMain = useList<FileUser>('/vclgroups', { query: { 'mainVCL.id': id }, follow })
  const asInclude = useList<FileUser>('/vclgroups', { query: { 'includes.id': id }, follow })
  return [...new Map([...asMain.rows, ...asInclude.rows].map((row) => [row.id, row])).values()]
}
