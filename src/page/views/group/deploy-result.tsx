/** For ten minutes after a deploy: its effect on hits and failed fetches of its caches, and the rollback. */
import type { Group, HistoryEntry } from '../../../resources/vclgroup.js'
import { useAnswer } from '../../api/answer.js'
import { call } from '../../api/call.js'
import { formatValue, type Unit } from '../../charts/format-value.js'
import { Button } from '../../parts/button.js'
import { now, Time } from '../../parts/time.js'
import { mayRead } from '../../session/rights.js'
import { findRollback } from '../overview/find-rollback.js'
import { readTraffic } from '../graphs/use-series.js'
import { mayChangeGroup } from './may-change-group.js'
import {
  compareFigures,
  countersWatched,
  findRecent,
  findWorse,
  trafficWatched,
  watchedSeconds,
  type Figures,
  type WatchedSeries,
} from './measure-result.js'
import type { Verbs } from './use-verbs.js'

interface DeployResultProps {
  readonly group: Group
  readonly verbs: Verbs
  readonly history: readonly HistoryEntry[]
}

/** The archive adds rows no more often than this. */
const rereadMs = 10_000

export function DeployResult({ group, verbs, history }: DeployResultProps) {
  const entry = findRecent(history, now.value)
  const series = useFigures(group, entry)
  if (!entry || !group.deployed || !mayRead('stats')) return null
  const { revision, action, at, account } = entry
  const earlier = action === 'rollback' ? null : findRollback(history)
  const minutes = Math.ceil((Date.parse(at) / 1000 + watchedSeconds - now.value / 1000) / 60)
  return (
    <section class="panel" aria-label="Result of the last change">
      <div class="group-deploy-head">
        <h2>
          Since the {action} of revision {revision}
        </h2>
        {earlier && mayChangeGroup(group) && (
          <Button
            isBusy={verbs.isBusy}
            onClick={() => {
              verbs.rollBack(group, earlier.revision)
            }}
          >
            Roll back to revision {earlier.revision}
          </Button>
        )}
      </div>
      <p class="quiet">
        <Time at={at} isAgo /> by {account || 'the coordinator'}. Watched for {minutes} more{' '}
        {minutes === 1 ? 'minute' : 'minutes'}.
        {!group.root && ' Other groups on the same caches count too.'}
      </p>
      <FigureTable series={series} deployedAt={Date.parse(at) / 1000} />
    </section>
  )
}

function useFigures({ id }: Group, entry: HistoryEntry | null): readonly WatchedSeries[] {
  const isAsked = entry !== null && mayRead('stats')
  const key = isAsked ? `${id} ${entry.at}` : null
  const ask = async (signal: AbortSignal, before: readonly WatchedSeries[]) => {
    const at = Math.floor(Date.parse(entry?.at ?? '') / 1000)
    const to = Math.min(Math.floor(Date.now() / 1000), at + watchedSeconds)
    const range = `${at - watchedSeconds}/${Math.max(to, at + 1)}`
    const path = `/vclgroups/${id}/stats/AVERAGE/${range}?counters=${countersWatched.join(',')}`
    const [outcome, traffic] = await Promise.all([
      call<{ readonly stats: readonly WatchedSeries[] }>('GET', path, { signal }),
      readTraffic(
        { kind: 'vclgroups', ids: [id] },
        { from: at - watchedSeconds, to: Math.max(to, at + 1) },
        signal,
        trafficWatched,
      ),
    ])
    return outcome.ok ? [...outcome.value.stats, ...traffic] : before
  }
  return useAnswer<readonly WatchedSeries[]>(key, nothing, ask, { repeatMs: rereadMs })
}

const nothing: readonly WatchedSeries[] = []

const shown: readonly {
  readonly of: keyof Figures
  readonly title: string
  readonly unit: Unit
}[] = [
  { of: 'hitRatio', title: 'Hit ratio', unit: 'share' },
  { of: 'failedFetches', title: 'Failed fetches', unit: 'rate' },
  { of: 'requests', title: 'Requests', unit: 'rate' },
  { of: 'errors', title: 'Errors (5xx)', unit: 'share' },
  { of: 'firstByte', title: '95 % begin within', unit: 'milliseconds' },
]
/** Omitted if the logs of the group's caches are not read. */
const logged: readonly (keyof Figures)[] = ['errors', 'firstByte']

interface FigureTableProps {
  readonly series: readonly WatchedSeries[]
  /** Seconds since 1970. */
  readonly deployedAt: number
}

function listShown({ before, after }: ReturnType<typeof compareFigures>) {
  const isKnown = (of: keyof Figures): boolean => before[of] !== null || after[of] !== null
  return shown.filter(({ of }) => !logged.includes(of) || isKnown(of))
}

function FigureTable({ series, deployedAt }: FigureTableProps) {
  const compared = compareFigures(series, deployedAt)
  const worse = findWorse(compared)
  return (
    <table class="group-figures group-figures-compared">
      <thead>
        <tr>
          <th scope="col">Figure</th>
          <th scope="col">10 min before</th>
          <th scope="col">Since</th>
        </tr>
      </thead>
      <tbody>
        {listShown(compared).map(({ of, title, unit }) => (
          <tr key={of}>
            <th scope="row">{title}</th>
            <td>{formatValue(unit, compared.before[of])}</td>
            <td class={worse.has(of) ? 'tone-bad' : ''}>
              {formatValue(unit, compared.after[of])}
              {worse.has(of) && <span class="unseen"> worse</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
