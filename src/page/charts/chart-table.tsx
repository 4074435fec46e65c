/** The values of a chart as a table, for users who cannot see the lines; rendered when it is opened. */
import { useSignal } from '@preact/signals'
import { Time, toIso } from '../parts/time.js'
import type { Columns } from './align-series.js'
import { formatValue, type Unit } from './format-value.js'

interface ChartTableProps {
  readonly title: string
  readonly unit: Unit
  readonly labels: readonly string[]
  readonly columns: Columns
}

/** Enough for a reader; a smaller range shows every value. */
const maxRows = 60

export function ChartTable({ title, unit, labels, columns }: ChartTableProps) {
  const isOpen = useSignal(false)
  return (
    <details
      class="chart-numbers"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open
      }}
    >
      <summary>
        As a table<span class="unseen"> of {title}</span>
      </summary>
      {isOpen.value && (
        <div
          class="chart-table"
          tabIndex={0}
          role="region"
          aria-label={`${title}, as a table`}
          onKeyDown={keepArrows}
        >
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {labels.map((label) => (
                  <th scope="col" key={label}>
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {listRows(columns.times.length).map((row) => (
                <tr key={row}>
                  <th scope="row">
                    <Time at={toIso(columns.times[row] ?? 0)} />
                  </th>
                  {labels.map((label, at) => (
                    <td key={label}>{formatValue(unit, columns.values[at]?.[row])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  )
}

/** Arrow keys scroll the table; elsewhere on the page they are shortcuts. */
function keepArrows(event: KeyboardEvent): void {
  if (event.key.startsWith('Arrow')) event.stopPropagation()
}

/** Newest first, at equal distances. */
function listRows(count: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / maxRows))
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => count - 1 - at * step)
}
