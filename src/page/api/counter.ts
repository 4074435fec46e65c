/** `/counters`: what is sampled of every cache that has it. */
export interface Counter {
  readonly name: string
  readonly kind: 'counter' | 'gauge'
  readonly description: string
}
