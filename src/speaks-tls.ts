/** Checks for TLS where plain HTTP failed: a TLS listener closes a plain HTTP connection without a response. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'

const timeoutMs = 3000

/** Sends only the handshake, so the certificate does not matter. Never rejects. */
export function speaksTls({ hostname, port }: Pick<URL, 'hostname' | 'port'>): Promise<boolean> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port === '' ? 80 : port),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    })
    const end = (isTls: boolean): void => {
      socket.destroy()
      resolve(isTls)
    }
    socket.setTimeout(timeoutMs, () => {
      end(false)
    })
    socket.once('secureConnect', () => {
      end(true)
    })
    // A TLS alert is a TLS response, for example to an unknown server name.
    socket.on('error', (error: Error) => {
      end('code' in error && /^ERR_SSL_.*_ALERT_/.test(String(error.code)))
    })
  })
}
