/** The files: VCL and what it includes, with their versions and who uses them. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import type { FileUser, FleetFile } from '../../api/file.js'
import { useList } from '../../api/list.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { Labels } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { Time } from '../../parts/time.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { useKey } from '../../shell/keys.js'
import { NewFile } from './new-file.js'
import { countTypes, fileTypeNames, findUsers, pickFiles } from './pick-files.js'
import { Upload } from './upload.js'

interface Row extends FleetFile {
  readonly users: readonly string[]
}

export function View() {
  const { rows, phase, error, reload } = useList<FleetFile>('/files')
  const text = useSearchText()
  const [type, setType] = useAddressField('type')
  const [, go] = useLocation()
  const isMaking = useSignal(false)
  const chosen = useSignal<readonly File[]>([])
  const mayChange = mayWrite('file')
  const users = useUsers()
  const shown = useMemo(
    () =>
      pickFiles(rows, { text, type }).map((file) => ({ ...file, users: users.get(file.id) ?? [] })),
    [rows, text, type, users],
  )
  const isEmpty = phase === 'ready' && !error && shown.length === 0

  return (
    <>
      <ViewHead title="VCL">
        {mayChange && (
          <>
            <UploadButton onChoose={(files) => (chosen.value = files)} />
            <NewButton onPress={() => (isMaking.value = true)} />
          </>
        )}
      </ViewHead>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' && <Loading />}
      {rows.length > 0 && (
        <Choices
          label="Type"
          value={type}
          onChoose={setType}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countTypes(rows)]}
        />
      )}
      {shown.length > 0 && (
        <Table
          label="Files"
          rows={shown}
          columns={mayRead('vclgroup') ? columns : columnsAlone}
          linkOf={({ id }) => `/files/${id}`}
          sorting={{ title: 'Name', isDescending: false }}
          fills
        />
      )}
      {isEmpty && rows.length > 0 && <Empty icon="search" title="No file fits these filters" />}
      {isEmpty && rows.length === 0 && (
        <Empty icon="file" title="No files yet">
          <p>Make one here, or upload the *.vcl of a cache; a VCL group then puts it on caches.</p>
        </Empty>
      )}
      {isMaking.value && (
        <NewFile
          onClose={() => (isMaking.value = false)}
          onMade={(id) => {
            go(`/files/${id}`)
          }}
        />
      )}
      {chosen.value.length > 0 && (
        <Upload
          files={chosen.value}
          known={rows}
          onClose={() => {
            chosen.value = []
            reload()
          }}
        />
      )}
    </>
  )
}

/** Of who may not see groups there are none. */
function useUsers(): ReadonlyMap<number, readonly string[]> {
  const groups = useList<FileUser>('/vclgroups')
  return useMemo(() => findUsers(groups.rows), [groups.rows])
}

function NewButton({ onPress }: { readonly onPress: () => void }) {
  useKey('n', 'New file', onPress)
  return (
    <Button kind="main" icon="add" onClick={onPress}>
      New file
    </Button>
  )
}

function UploadButton({ onChoose }: { readonly onChoose: (files: readonly File[]) => void }) {
  const place = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={place}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          onChoose([...(event.currentTarget.files ?? [])])
          // The same ones again are a choice too.
          event.currentTarget.value = ''
        }}
      />
      <Button onClick={() => place.current?.click()}>Upload…</Button>
    </>
  )
}

const columns: readonly Column<Row>[] = [
  { title: 'Name', show: ({ name }) => name, sortBy: ({ name }) => name },
  {
    title: 'Type',
    width: '6rem',
    show: ({ fileType }) => fileTypeNames[fileType],
    sortBy: ({ fileType }) => fileType,
  },
  {
    title: 'Version',
    width: '6rem',
    isEnd: true,
    show: ({ version }) => version,
    sortBy: ({ version }) => version,
  },
  {
    title: 'Used by',
    from: 'medium',
    show: ({ users }) => <Labels words={users} />,
    sortBy: ({ users }) => users.length,
  },
  {
    title: 'Changed',
    width: '9.5rem',
    from: 'medium',
    show: ({ updated }) => <Time at={updated} isAgo />,
    sortBy: ({ updated }) => updated,
  },
]
const columnsAlone = columns.filter(({ title }) => title !== 'Used by')
