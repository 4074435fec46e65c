/** autocannon 9 as far as the benchmarks use it; it comes without types. */
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
    /** Called once for each connection. */
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
