/** What the listener speaks: TLS with files that settings name, with a certificate of its own, or none. */
import type { Logger } from 'pino'
import type { TlsFiles } from '../http/server.js'
import type { SharedStore } from './own-ca.js'
import type { OwnTls } from './own-tls.js'

interface ListenerConfig {
  readonly stateDir: string
  readonly storeUrl: string
  readonly listen: { readonly host: string }
  readonly tls: TlsFiles | 'own' | null
  readonly tlsNames: readonly string[]
  readonly publicUrl: string | null
}

export interface ListenerTls {
  readonly files: TlsFiles | null
  /** Null: it makes no certificate. */
  readonly own: OwnTls | null
}

export async function openListenerTls(
  { stateDir, storeUrl, listen, tls, tlsNames, publicUrl }: ListenerConfig,
  shared: SharedStore,
  log: Logger,
): Promise<ListenerTls> {
  if (tls !== 'own') return { files: tls, own: null }
  // Most coordinators that are tried listen on loopback.
  const { openOwnTls } = await import('./own-tls.js')
  const own = await openOwnTls({
    ...{ stateDir, log, now: Date.now },
    names: { listenHost: listen.host, publicUrl, further: tlsNames },
    shared: storeUrl.startsWith('sqlite:') ? null : shared,
  })
  return { files: own.files, own }
}
