/** `/stats`: the current values of each cache's counters. */
export interface NewestStats {
  readonly counters: readonly string[]
  /** Agents that sent samples recently. */
  readonly agents: readonly {
    readonly id: number
    /** Seconds since 1970. */
    readonly time: number
    /** Rates per second for counters, levels for gauges, in the order of `counters`. */
    readonly values: readonly (number | null)[]
  }[]
}
