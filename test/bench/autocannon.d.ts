/** The part of autocannon 9 that the benchmarks use; it comes without types. */
declare module 'autocannon' {
  export interface Client {
    setRequests(requests: readonly { readonly path: string }[]): void
  }

  export interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly headers: Readonly<Record<string, string>>
    /** Called once per connection. */
    readonly setupClient: (client: Client) => void
  }

  export interface Result {
    readonly requests: { readonly total: number }
    /** Seconds. */
    readonly duration: number
    readonly non2xx: number
    readonly errors: number
  }

  export default function autocannon(options: Options): Promise<Result>
}
