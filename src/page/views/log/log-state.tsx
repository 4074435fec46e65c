/** Whether the log is read, and what of it is missing. */
import { Link } from 'wouter-preact'
import { Button } from '../../parts/button.js'
import { formatCount } from '../../parts/quantity.js'
import { StateChip, type Tone } from '../../parts/state-chip.js'
import { formatText } from './format-request.js'
import type { LogPhase } from './read-log.js'
import { linesMost, type LogShown } from './use-log.js'

const words: Readonly<Record<LogPhase['kind'], readonly [state: string, tone: Tone]>> = {
  connecting: ['Connecting', 'busy'],
  live: ['Live', 'good'],
  paused: ['Paused', 'calm'],
  broken: ['Broken: taken up again', 'warn'],
  ended: ['Ended', 'bad'],
}

/** Told one by one. */
const endedMost = 3

interface LogStateProps {
  readonly log: LogShown
  readonly onPause: () => void
}

export function LogState({ log, onPause }: LogStateProps) {
  const { phase, lines, dropped, ended } = log
  const [state, tone] = words[phase.kind]
  const isPaused = phase.kind === 'paused'
  return (
    <>
      <div class="row log-state">
        {phase.kind !== 'ended' && (
          <Button onClick={onPause}>{isPaused ? 'Resume' : 'Pause'}</Button>
        )}
        <span role="status">
          <StateChip state={state} tone={tone} />
        </span>
        <span class="quiet">
          {phase.kind === 'live' && lines.length === 0 && 'No request yet.'}
          {lines.length === linesMost && `The newest ${formatCount(linesMost)} are kept.`}
        </span>
        {dropped > 0 && (
          <span class="log-dropped">
            {formatCount(dropped)} {dropped === 1 ? 'line was' : 'lines were'} left out
          </span>
        )}
      </div>
      {phase.kind !== 'ended' && ended.size > 0 && (
        <ul class="plain-list">
          {[...ended].slice(0, endedMost).map(([agent, reason]) => (
            <li key={agent}>
              Nothing more of <Link href={`/caches/${agent}`}>cache {agent}</Link>:{' '}
              {formatText(reason)}
            </li>
          ))}
          {ended.size > endedMost && <li>and of {ended.size - endedMost} others</li>}
        </ul>
      )}
    </>
  )
}
