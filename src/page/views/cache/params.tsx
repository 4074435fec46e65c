/** The parameters of a cache: search, comparison with defaults, change and reset. */
import { useMemo } from 'preact/hooks'
import { useHeld, type Parameter } from '../../api/engine.js'
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import { codeColumn } from '../../parts/columns.js'
import { StateChip } from '../../parts/state-chip.js'
import { Table, type Column } from '../../parts/table.js'
import { useDialog } from '../../parts/use-dialog.js'
import { useAddressField } from '../../shell/address.js'
import { CacheAnswer } from './answer.js'
import type { SectionProps } from './cache.js'
import { filterParameters, toParameterRows, type ParameterRow } from './engine-rows.js'
import { FindField, filledFrom } from './find-field.js'
import { ParamDialog } from './param-dialog.js'

export function ParamsSection({ agent, isChangeable }: SectionProps) {
  const answer = useHeld<Readonly<Record<string, Parameter>>>(agent.id, 'params')
  const [text] = useAddressField('find')
  const [only, setOnly] = useAddressField('only')
  const details = useDialog<string>()
  const rows = useMemo(() => toParameterRows(answer.value ?? {}), [answer.value])
  const isChanged = only === 'changed'
  const shown = filterParameters(rows, { text: text.toLowerCase(), isChanged })
  const columns = useMemo(
    () => [...shownColumns, openColumn(isChangeable, details.open)],
    [isChangeable],
  )
  const parameter = rows.find(({ id }) => id === details.subject)

  return (
    <>
      {answer.value && (
        <div class="row">
          <Choices
            label="Which parameters"
            value={only}
            onChoose={setOnly}
            choices={[
              { value: '', title: 'All', count: rows.length },
              {
                value: 'changed',
                title: 'Changed',
                count: rows.filter((row) => row.isChanged).length,
              },
            ]}
          />
          <FindField label="Find a parameter" />
        </div>
      )}
      <CacheAnswer
        agent={agent}
        {...answer}
        isEmpty={answer.value !== null && shown.length === 0}
        icon="search"
        title={text === '' ? 'Every parameter is at its default' : 'No parameter fits'}
      >
        {shown.length > 0 && (
          <Table
            label="Parameters"
            rows={shown}
            columns={columns}
            sorting={{ title: 'Name', isDescending: false }}
            fills={shown.length > filledFrom}
          />
        )}
      </CacheAnswer>
      {parameter && (
        <ParamDialog
          agent={agent}
          parameter={parameter}
          isChangeable={isChangeable}
          onChange={answer.reload}
          onClose={details.close}
        />
      )}
    </>
  )
}

const shownColumns: readonly Column<ParameterRow>[] = [
  codeColumn('Name', ({ id }) => id),
  {
    title: 'Value',
    width: '28%',
    sortBy: ({ value }) => value,
    show: ({ value, unit, isChanged }) => (
      <span class="cache-value" title={`${value} ${unit}`}>
        {isChanged && (
          <span class="from-medium">
            <StateChip state="changed" tone="busy" />
          </span>
        )}
        <span class={`cache-value-text${isChanged ? ' cache-value-changed' : ''}`}>
          {value} <span class="quiet from-medium">{unit}</span>
        </span>
      </span>
    ),
  },
  {
    title: 'Default',
    width: '20%',
    from: 'wide',
    sortBy: (row) => row.default,
    show: (row) => <span title={row.default}>{row.default}</span>,
  },
]

function openColumn(isChangeable: boolean, open: (name: string) => void): Column<ParameterRow> {
  return {
    title: isChangeable ? 'Edit' : 'About',
    width: '4.5rem',
    isEnd: true,
    show: ({ id }) => (
      <Button
        kind="quiet"
        icon={isChangeable ? 'edit' : 'help'}
        label={isChangeable ? `Change ${id}` : `About ${id}`}
        onClick={() => {
          open(id)
        }}
      />
    ),
  }
}
