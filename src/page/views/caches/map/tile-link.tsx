/** The tile of the map under the pointer or focus: a link to its cache, with a tooltip. */
import { useSignal, useSignalEffect, type Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { Agent } from '../../../../resources/agent.js'
import { formatRate, formatShare } from '../../../parts/quantity.js'
import { Labels, StateChip } from '../../../parts/state-chip.js'
import { findReason } from '../judge-cache.js'
import type { Rates } from '../sort-caches.js'
import { findPlace, type Layout } from './layout-tiles.js'

interface TileLinkProps {
  readonly agents: readonly Agent[]
  readonly rates: ReadonlyMap<number, Rates> | null
  readonly layout: Layout
  readonly active: Signal<number>
  readonly isPointed: Signal<boolean>
}

export function TileLink({ agents, rates, layout, active, isPointed }: TileLinkProps) {
  const isFocused = useSignal(false)
  const place = useRef<HTMLSpanElement>(null)
  const index = Math.min(active.value, agents.length - 1)
  const agent = agents[index]
  const tile = findPlace(layout, index)
  useSignalEffect(() => {
    // A key selected another tile: focus scrolls to it and has it read aloud.
    if (active.value >= 0 && isFocused.peek()) place.current?.querySelector('a')?.focus()
  })
  if (!agent || !tile) return null
  const isShown = isPointed.value || isFocused.value
  const box = { left: `${tile.left}px`, top: `${tile.top}px` }
  const side = `${layout.cell}px`
  return (
    <span ref={place}>
      <Link
        href={`/caches/${agent.id}`}
        class={`map-tile${isShown ? ' map-tile-shown' : ''}`}
        style={{ ...box, width: side, height: side }}
        aria-label={describe(agent, rates?.get(agent.id))}
        onFocus={() => {
          isFocused.value = true
        }}
        onBlur={() => {
          isFocused.value = false
        }}
      />
      {isShown && <Tooltip agent={agent} rates={rates?.get(agent.id)} layout={layout} {...tile} />}
    </span>
  )
}

function describe(agent: Agent, rates: Rates | undefined): string {
  const reason = findReason(agent)
  const words = [agent.name, agent.stateName, ...(reason ? [reason.message] : [])]
  if (rates) words.push(formatRate(rates.requests))
  return words.join(', ')
}

interface TooltipProps {
  readonly agent: Agent
  readonly rates: Rates | undefined
  readonly layout: Layout
  readonly left: number
  readonly top: number
}

/** The maximum size in pixels, to decide on which side of its tile the tooltip is placed. */
const [tooltipWidth, tooltipHeight] = [272, 132]

function Tooltip({ agent, rates, layout, left, top }: TooltipProps) {
  const reason = findReason(agent)
  const broad = Math.max(...layout.sections.map((one) => one.left + one.width))
  const isLeft = left + layout.cell + tooltipWidth > broad && left > tooltipWidth
  const isAbove = top + layout.cell + tooltipHeight > layout.height && top > tooltipHeight
  const at = {
    left: `${isLeft ? left - tooltipWidth : Math.max(0, Math.min(left + layout.cell, broad - tooltipWidth))}px`,
    ...(isAbove
      ? { bottom: `${layout.height - top + 4}px` }
      : { top: `${top + layout.cell + 4}px` }),
  }
  return (
    <div class="map-tooltip" style={at} aria-hidden="true">
      <div class="map-tooltip-line">
        <strong>{agent.name}</strong>
        <StateChip state={agent.stateName} />
      </div>
      {reason && <p class={`caches-severity-${reason.severity}`}>{reason.message}</p>}
      {rates && (
        <p>
          {formatRate(rates.requests)} requests, hit ratio {formatShare(rates.hitRatio, 1)}
        </p>
      )}
      <Labels words={agent.tags.map(({ name }) => name)} />
    </div>
  )
}
