/** Opens the listener's TLS: with files named in the settings, with a certificate of its own, or no TLS. */
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
  /** Null: the listener has no certificate of its own. */
  readonly own: OwnTls | null
}

export async function openListenerTls(
  { stateDir, storeUrl, listen, tls, tlsNames, publicUrl }: ListenerConfig,
  shared: SharedStore,
  log: Logger,
): Promise<ListenerTls> {
  if (tls !== 'own') return { files: tls, own: null }
  // Imported on demand, because most coordinators on trial listen on loopback, where TLS is off.
  const { openOwnTls } = await import('./own-tls.js')
  const own = await openOwnTls({
    stateDir,
    log,
    now: Date.now,
    names: { listenHost: listen.host, publicUrl, further: tlsNames },
    shared: storeUrl.startsWith('sqlite:') ? null : shared,
  })
  return { files: own.files, own }
}
