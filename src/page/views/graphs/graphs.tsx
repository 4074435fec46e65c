/** Hit ratio, traffic, backends, threads and storage of all caches, a group, a tag or some caches, over minutes to months. */
import { Empty } from '../../parts/empty.js'
import { ViewHead } from '../../parts/view-head.js'
import { useAddressField } from '../../shell/address.js'
import { fleet, formatSubject, readSubject } from './subject.js'
import { SubjectGraphs } from './subject-graphs.js'
import { listKinds, SubjectPicker } from './subject-picker.js'

export function View() {
  const [word, setWord] = useAddressField('of', { isStep: true })
  const kinds = listKinds()
  const asked = readSubject(word)
  const isFleetShown = kinds.some(({ value }) => value === 'fleet')
  const subject = asked ?? (isFleetShown ? fleet : null)
  return (
    <>
      <ViewHead title="Graphs" />
      {kinds.length === 0 ? (
        <Empty icon="graph" title="There is nothing that you may see graphs of">
          <p>Graphs are of caches and groups: you may read neither.</p>
        </Empty>
      ) : (
        <div class="row graphs-bar">
          <SubjectPicker
            subject={subject ?? { kind: 'vclgroups', ids: [] }}
            choose={(next) => {
              setWord(next.kind === 'fleet' && isFleetShown ? '' : formatSubject(next))
            }}
          />
        </div>
      )}
      {subject && <SubjectGraphs key={formatSubject(subject)} subject={subject} />}
    </>
  )
}
