/**
 * The fleet at a glance: one tile per cache, grouped by tags. Tiles are drawn on a canvas; one link covers the tile under the
 * pointer or selected by keys, so that it opens and is read aloud like any other link. The list beside it shows the same in
 * words.
 */
import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Agent } from '../../../../resources/agent.js'
import { awaySince } from '../../../api/connection.js'
import { theme } from '../../../shell/theme.js'
import type { Rates } from '../sort-caches.js'
import { drawTiles, type Health, type Tile } from './draw-tiles.js'
import { groupByTags, type TileGroup } from './group-tiles.js'
import { countHealth, toTiles } from './judge-tile.js'
import { findTile, layoutTiles, nextTile, type Layout } from './layout-tiles.js'
import { Legend, readColours } from './legend.js'
import { TileLink } from './tile-link.js'

interface FleetMapProps {
  readonly agents: readonly Agent[]
  /** Null: unknown. */
  readonly rates: ReadonlyMap<number, Rates> | null
}

interface Size {
  readonly width: number
  readonly height: number
}

export function FleetMap({ agents, rates }: FleetMapProps) {
  const place = useRef<HTMLDivElement>(null)
  const size = useSignal<Size>({ width: 0, height: 0 })
  const groups = useMemo(() => groupByTags(agents), [agents])
  const ordered = useMemo(() => groups.flatMap((group) => group.agents), [groups])
  const tiles = useMemo(() => toTiles(ordered, rates), [ordered, rates])
  const counts = groups.map((group) => group.agents.length)
  const { width, height } = size.value
  const layout = useMemo(() => layoutTiles(counts, width, height), [counts.join(), width, height])
  useSize(place, size)
  return (
    <>
      <Legend counts={countHealth(tiles)} hasSizes={rates !== null} />
      <div class="map table-fills" ref={place} role="region" aria-label="Map of caches">
        {width > 0 && (
          <Plane groups={groups} ordered={ordered} tiles={tiles} layout={layout} rates={rates} />
        )}
      </div>
    </>
  )
}

interface PlaneProps {
  readonly groups: readonly TileGroup<Agent>[]
  readonly ordered: readonly Agent[]
  readonly tiles: readonly Tile[]
  readonly layout: Layout
  readonly rates: FleetMapProps['rates']
}

function Plane({ groups, ordered, tiles, layout, rates }: PlaneProps) {
  const plane = useRef<HTMLDivElement>(null)
  const active = useSignal(0)
  const isPointed = useSignal(false)
  const point = ({ clientX, clientY }: MouseEvent): void => {
    const frame = plane.current?.getBoundingClientRect()
    if (!frame) return
    const found = findTile(layout, clientX - frame.left, clientY - frame.top)
    isPointed.value = found !== null
    if (found !== null) active.value = found
  }
  const move = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = nextTile(layout, active.peek(), event.key)
    if (next === null) return
    event.preventDefault()
    active.value = next
  }
  return (
    <div
      class="map-plane"
      ref={plane}
      style={{ height: `${layout.height}px` }}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => {
        isPointed.value = false
      }}
      onKeyDown={move}
    >
      <Canvas tiles={tiles} layout={layout} />
      {layout.sections.map(({ left, top, width }, at) => (
        <h2
          class="map-title"
          key={groups[at]?.title}
          title={groups[at]?.title}
          style={{ left: `${left}px`, top: `${top}px`, width: `${width}px` }}
        >
          <span class="map-title-text">{groups[at]?.title}</span>
          <span class="quiet">{groups[at]?.agents.length}</span>
        </h2>
      ))}
      <TileLink
        agents={ordered}
        rates={rates}
        layout={layout}
        active={active}
        isPointed={isPointed}
      />
    </div>
  )
}

/** Redrawn only when its data changes, never on scrolling or pointing. */
function Canvas({ tiles, layout }: Pick<PlaneProps, 'tiles' | 'layout'>) {
  const place = useRef<HTMLCanvasElement>(null)
  const scheme = useScheme()
  const isStale = awaySince.value !== null
  useLayoutEffect(() => {
    const colours: Readonly<Record<Health, string>> = readColours()
    if (place.current) drawTiles(place.current, tiles, layout, colours)
  }, [tiles, layout, scheme, isStale])
  return <canvas class="map-canvas" ref={place} aria-hidden="true" />
}

/** Changes with the page's colour scheme. */
function useScheme(): string {
  const isDark = useSignal(dark.matches)
  useEffect(() => {
    const update = (): void => {
      isDark.value = dark.matches
    }
    dark.addEventListener('change', update)
    return () => {
      dark.removeEventListener('change', update)
    }
  }, [])
  return `${theme.value} ${isDark.value}`
}

const dark = matchMedia('(prefers-color-scheme: dark)')

function useSize(place: { readonly current: HTMLDivElement | null }, size: Signal<Size>): void {
  useEffect(() => {
    const frame = place.current
    if (!frame) return
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = frame
      const before = size.peek()
      if (before.width !== width || before.height !== height) size.value = { width, height }
    })
    observer.observe(frame)
    return () => {
      observer.disconnect()
    }
  }, [])
}
