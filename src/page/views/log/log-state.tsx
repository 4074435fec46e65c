/** Whether the log is being read, and what is missing from it. */
import { Link } from 'wouter-preact'
import { Button } from '../../parts/button.js'
import { formatCount } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { formatText } from './format-request.js'
import type { LogPhase } from './read-log.js'
import type { LogShown } from './use-log.js'

const words: Readonly<Record<LogPhase['kind'], readonly [state: string, tone: Tone]>> = {
  connecting: ['Connecting', 'busy'],
  live: ['Live', 'good'],
  paused: ['Paused', 'calm'],
  broken: ['Broken: taken up again', 'warn'],
  ended: ['Ended', 'bad'],
}

/** The number shown individually. */
const maxEnded = 3

interface LogStateProps {
  readonly log: LogShown
  readonly onPause: () => void
  readonly isDetailed: boolean
  readonly onDetail: (isDetailed: boolean) => void
}

export function LogState({ log, onPause, isDetailed, onDetail }: LogStateProps) {
  const { phase, lines, dropped, ended, most } = log
  const [state, tone] = words[phase.kind]
  const isPaused = phase.kind === 'paused'
  return (
    <>
      <div class="row log-state">
        {phase.kind !== 'ended' && (
          <Button onClick={onPause}>{isPaused ? 'Resume' : 'Pause'}</Button>
        )}
        <label class="row">
          <input
            type="checkbox"
            checked={isDetailed}
            onChange={({ currentTarget }) => {
              onDetail(currentTarget.checked)
            }}
          />
          Whole records
        </label>
        <span role="status">
          <StateChip state={state} tone={tone} />
        </span>
        <span class="quiet">
          {phase.kind === 'live' && lines.length === 0 && 'No request yet.'}
          {lines.length === most && `The newest ${formatCount(most)} are kept.`}
        </span>
        {dropped > 0 && (
          <span class="log-dropped">
            {formatCount(dropped)} {dropped === 1 ? 'line was' : 'lines were'} left out
          </span>
        )}
      </div>
      {phase.kind !== 'ended' && ended.size > 0 && (
        <ul class="plain-list">
          {[...ended].slice(0, maxEnded).map(([agent, reason]) => (
            <li key={agent}>
              Nothing more of <Link href={`/caches/${agent}`}>cache {agent}</Link>:{' '}
              {formatText(reason)}
            </li>
          ))}
          {ended.size > maxEnded && <li>and of {ended.size - maxEnded} others</li>}
        </ul>
      )}
    </>
  )
}
