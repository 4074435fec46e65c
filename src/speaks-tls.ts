/** Whether TLS is spoken where plain HTTP was cut off: a TLS listener closes such a connection without a word. */
import { isIP } from 'node:net'
import { connect } from 'node:tls'

const timeoutMs = 3000

/** Nothing is sent but the handshake, so the certificate does not matter. Never rejects. */
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
    // An alert is an answer in TLS, such as for a name that is not served.
    socket.on('error', (error: Error) => {
      end('code' in error && /^ERR_SSL_.*_ALERT_/.test(String(error.code)))
    })
  })
}
