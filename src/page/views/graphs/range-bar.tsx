/** Chooses the time range and the comparison. Each choice adds an entry to the browser history. */
import { Button } from '../../parts/button.js'
import { Choices } from '../../parts/choices.js'
import type { Mark } from '../../../resources/mark.js'
import { describeMark } from './describe-marks.js'
import { fixedComparisons, listDeploys } from './compare-with.js'
import { formatMoment } from '../../charts/format-tick.js'
import { spans, type GraphRange } from './graph-range.js'

interface RangePickerProps {
  readonly range: GraphRange
  readonly choose: (word: string) => void
}

export function RangePicker({ range, choose }: RangePickerProps) {
  return (
    <>
      <Choices
        label="Range"
        choices={spans}
        value={range.isLive ? range.span.value : ''}
        onChoose={choose}
      />
      {range.isLive ? (
        <span class="graphs-live">Live</span>
      ) : (
        <Button
          icon="refresh"
          onClick={() => {
            choose('')
          }}
        >
          Back to live
        </Button>
      )}
    </>
  )
}

interface ComparePickerProps {
  readonly value: string
  readonly marks: readonly Mark[]
  readonly choose: (word: string) => void
}

export function ComparePicker({ value, marks, choose }: ComparePickerProps) {
  const deploys = listDeploys(marks)
  const isOffered =
    value === '' || [...fixedComparisons, ...deploys].some((one) => one.value === value)
  return (
    <label class="graphs-compare">
      Compare with
      <select
        class="field-input"
        value={value}
        onChange={({ currentTarget }) => {
          choose(currentTarget.value)
        }}
      >
        <option value="">nothing</option>
        {fixedComparisons.map((one) => (
          <option key={one.value} value={one.value}>
            {one.title}
          </option>
        ))}
        {deploys.map(({ value: moment, mark }) => (
          <option key={moment} value={moment}>
            {`before ${describeMark(mark).text}, ${formatMoment(Number(moment), Infinity)}`}
          </option>
        ))}
        {!isOffered && <option value={value}>before the deploy</option>}
      </select>
    </label>
  )
}
