/** The traffic of the fleet: the current figure, the figure an hour ago, and a chart with the events in between. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { Figures, Overview } from '../../../resources/overview.js'
import { formatMoment } from '../../charts/format-tick.js'
import { formatValue } from '../../charts/format-value.js'
import { Trend, type PointedTrend } from '../../charts/trend.js'
import type { ChartMark } from '../../charts/chart-mark.js'
import { now as clock } from '../../parts/time.js'
import { fleet } from '../graphs/subject.js'
import { useMarks } from '../graphs/use-marks.js'
import { compareFigures, findMaximum, listMarks, readTrend } from './read-trends.js'
import { trendKinds, type TrendKind } from './read-trends.js'

const hourSeconds = 3_600
const none: NonNullable<Overview['problems']> = []

interface TrafficProps {
  readonly overview: Overview
  readonly now: Figures
}

export function Traffic({ overview, now }: TrafficProps) {
  const { lastHour, hourBefore } = overview
  const seconds = Math.round(clock.value / 1000)
  const happened = useMarks(fleet, { from: seconds - hourSeconds, to: seconds }).marks
  const problems = overview.problems ?? none
  const marks = useMemo(() => listMarks(happened, problems, seconds), [happened, problems, seconds])
  const kinds = trendKinds.filter(({ name }) => name !== 'errors' || now.errors !== null)
  return (
    <section class="overview-traffic" aria-label="Traffic of the last hour">
      {kinds.map((kind) => (
        <Figure
          key={kind.name}
          kind={kind}
          now={now}
          before={hourBefore}
          lastHour={lastHour ?? []}
          seconds={seconds}
          marks={marks}
        />
      ))}
    </section>
  )
}

interface FigureProps {
  readonly kind: TrendKind
  readonly now: Figures
  readonly before: Figures | null
  readonly lastHour: NonNullable<Overview['lastHour']>
  readonly seconds: number
  readonly marks: readonly ChartMark[]
}

function Figure({ kind, now, before, lastHour, seconds, marks }: FigureProps) {
  const { name, title, unit, colour } = kind
  const pointed = useSignal<PointedTrend | null>(null)
  const points = useMemo(() => readTrend(lastHour, name), [lastHour])
  const compared = compareFigures(kind, now, before)
  const value = formatValue(unit, now[name])
  const at = pointed.value
  return (
    <figure class="panel overview-figure">
      <figcaption>
        <h2>{title}</h2>
        <p class="overview-value">{at ? formatValue(unit, at.value) : value}</p>
        <p class="overview-compared">
          {at ? (
            describePointed(at)
          ) : (
            <span class={compared ? `overview-${compared.tone}` : 'quiet'}>
              {compared?.text ?? (now[name] === null ? 'Not known yet' : ' ')}
            </span>
          )}
        </p>
      </figcaption>
      <Trend
        label={`${title} in the last hour, now ${value}`}
        points={points}
        range={{ from: seconds - hourSeconds, to: seconds }}
        most={findMaximum(points, unit)}
        colour={colour}
        marks={marks}
        onPoint={(next) => {
          pointed.value = next
        }}
      />
    </figure>
  )
}

function describePointed({ time, mark }: PointedTrend): string {
  const moment = formatMoment(mark?.at ?? time, hourSeconds)
  return mark ? `${moment} · ${mark.text}` : moment
}
