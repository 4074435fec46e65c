/** Computes the rows that differ from an agent's backend report. Pure. */
import type { ServedVcl } from '../../messages/backend-health.js'
import { groupOfVcl } from '../../vcl/engine-settings.js'

interface ServedRow {
  readonly agentId: number
  readonly vcl: string
  readonly backends: string
  readonly omittedHealthy: number
  readonly omittedSick: number
}

interface SickRow {
  readonly agentId: number
  readonly vcl: string
  readonly backend: string
  readonly since: number
}

export interface HealthRows {
  readonly served: readonly ServedRow[]
  readonly sick: readonly SickRow[]
}

export interface HealthChanges {
  readonly written: HealthRows
  readonly removed: HealthRows
}

export interface BackendReport {
  readonly agentId: number
  readonly vcls: readonly ServedVcl[]
}

/** `known`: all rows of these agents. */
export function findHealthChanges(
  known: HealthRows,
  reports: readonly BackendReport[],
  now: number,
): HealthChanges {
  const reported = keepSince(known, toRows(reports, now))
  return {
    written: {
      served: without(reported.served, known.served, printServed),
      sick: without(reported.sick, known.sick, printSick),
    },
    removed: {
      served: without(known.served, reported.served, keyOfServed),
      sick: without(known.sick, reported.sick, printSick),
    },
  }
}

/** Times in the future are replaced by now: the clock of the cache's host is ahead. */
function toRows(reports: readonly BackendReport[], now: number): HealthRows {
  const vcls = reports.flatMap(({ agentId, vcls }) =>
    // If a VCL is listed twice, the last one counts.
    [...new Map(vcls.map((vcl) => [vcl.name, vcl])).values()].map((vcl) => ({ agentId, vcl })),
  )
  return {
    served: vcls.map(({ agentId, vcl }) => {
      const names = new Set([...vcl.healthy, ...vcl.sick.map(({ name }) => name)])
      return {
        agentId,
        vcl: vcl.name,
        backends: JSON.stringify([...names].toSorted()),
        omittedHealthy: vcl.omitted.healthy,
        omittedSick: vcl.omitted.sick,
      }
    }),
    sick: vcls.flatMap(({ agentId, vcl }) =>
      [...new Map(vcl.sick.map((one) => [one.name, one.since])).entries()].map(
        ([backend, since]) => ({
          agentId,
          vcl: vcl.name,
          backend,
          since: Math.min(since ?? now, now),
        }),
      ),
    ),
  }
}

/** A backend that was already sick in an earlier VCL of the group keeps its `since`. */
function keepSince(known: HealthRows, reported: HealthRows): HealthRows {
  const since = new Map<string, number>()
  for (const row of known.sick) {
    const key = keyOfBackend(row)
    since.set(key, Math.min(row.since, since.get(key) ?? row.since))
  }
  const sick = reported.sick.map((row) => ({
    ...row,
    since: since.get(keyOfBackend(row)) ?? row.since,
  }))
  return { ...reported, sick }
}

function without<Row>(
  rows: readonly Row[],
  others: readonly Row[],
  print: (row: Row) => string,
): readonly Row[] {
  const printed = new Set(others.map(print))
  return rows.filter((row) => !printed.has(print(row)))
}

function keyOfServed({ agentId, vcl }: ServedRow): string {
  return `${agentId} ${vcl}`
}

function printServed(row: ServedRow): string {
  return `${keyOfServed(row)} ${row.omittedHealthy} ${row.omittedSick} ${row.backends}`
}

function printSick({ agentId, vcl, backend }: SickRow): string {
  return JSON.stringify([agentId, vcl, backend])
}

function keyOfBackend({ agentId, vcl, backend }: SickRow): string {
  return JSON.stringify([agentId, groupOfVcl(vcl), backend])
}
