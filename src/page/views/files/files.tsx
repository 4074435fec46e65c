/** The files: VCL and its includes, with their versions and the groups that use them. */
import { useMemo } from 'preact/hooks'
import type { Group } from '../../../resources/vclgroup.js'
import type { FleetFile } from '../../../resources/file.js'
import { useList } from '../../api/list.js'
import { Choices } from '../../parts/choices.js'
import { agoColumn, countColumn, labelsColumn, textColumn } from '../../parts/columns.js'
import { Empty } from '../../parts/empty.js'
import { ListView } from '../../parts/list-view.js'
import { readOwner } from '../../parts/owner.js'
import type { Column } from '../../parts/table.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import { useAddressField, useSearchText } from '../../shell/address.js'
import { NewFile } from './new-file.js'
import { countTypes, fileTypeNames, findUsers, filterFiles } from './filter-files.js'
import { UploadButton } from './upload.js'

interface Row extends FleetFile {
  readonly users: readonly string[]
}

export function View() {
  const files = useList<FleetFile>('/files', { follow: ['file'] })
  const text = useSearchText()
  const [type, setType] = useAddressField('type')
  const users = useUsers()
  const rows = useMemo(
    () => files.rows.map((file) => ({ ...file, users: users.get(file.id) ?? [] })),
    [files.rows, users],
  )
  const shown = useMemo(() => filterFiles(rows, { text, type }), [rows, text, type])
  const isWriter = mayWrite('file')
  const known = files.phase === 'ready' ? files.rows : null
  return (
    <ListView<Row>
      list={{ ...files, rows }}
      title="VCL"
      label="Files"
      shown={shown}
      columns={mayRead('vclgroup') ? columns : columnsAlone}
      ownerOf={readOwner}
      linkOf={({ id }) => `/files/${id}`}
      sorting={{ title: 'Name', isDescending: false }}
      buttons={() => isWriter && <UploadButton known={known} onMade={files.reload} />}
      noun={isWriter ? 'file' : null}
      dialog={({ onClose }) => <NewFile onClose={onClose} />}
      empty={
        <Empty icon="file" title="No files yet">
          <p>
            Create one here, or upload the *.vcl of a cache; a VCL group then puts it on caches.
          </p>
        </Empty>
      }
    >
      {rows.length > 0 && (
        <Choices
          label="Type"
          value={type}
          onChoose={setType}
          choices={[{ value: '', title: 'All', count: rows.length }, ...countTypes(rows)]}
        />
      )}
    </ListView>
  )
}

/** Empty for users who may not read groups. */
function useUsers(): ReadonlyMap<number, readonly string[]> {
  const groups = useList<Group>('/vclgroups', { follow: ['vclgroup'] })
  return useMemo(() => findUsers(groups.rows), [groups.rows])
}

const columns: readonly Column<Row>[] = [
  textColumn('Name', ({ name }) => name),
  textColumn('Type', ({ fileType }) => fileTypeNames[fileType], {
    width: '6rem',
    sortBy: ({ fileType }) => fileType,
  }),
  countColumn('Version', ({ version }) => version),
  labelsColumn('Used by', ({ users }) => users, {
    from: 'medium',
    sortBy: ({ users }) => users.length,
  }),
  agoColumn('Changed', ({ updated }) => updated, { from: 'medium' }),
]
const columnsAlone = columns.filter(({ title }) => title !== 'Used by')
