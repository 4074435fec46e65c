/** `/counters`: the counters that are sampled on every cache that has them. */
export interface Counter {
  readonly name: string
  readonly kind: 'counter' | 'gauge'
  readonly description: string
}
