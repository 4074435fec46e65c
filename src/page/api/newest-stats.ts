/** `/stats`: what each cache counts now. */
export interface NewestStats {
  readonly counters: readonly string[]
  /** Those that sent samples lately. */
  readonly agents: readonly {
    readonly id: number
    /** Seconds since 1970. */
    readonly time: number
    /** Events per second, or a level, in the order of `counters`. */
    readonly values: readonly (number | null)[]
  }[]
}
