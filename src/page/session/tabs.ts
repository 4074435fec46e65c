/** What the tabs of one browser tell each other, and how they take turns. */
import type { Whoami } from '../api/whoami.js'

export interface Access {
  readonly token: string
  /** When it was given. */
  readonly lifetimeMs: number
}

export interface Session {
  readonly access: Access
  readonly who: Whoami
}

const name = 'cachefleet-session'
const channel = new BroadcastChannel(name)

/** Null: logged out. */
export function tellTabs(session: Session | null): void {
  channel.postMessage(session)
}

export function hearTabs(hear: (session: Session | null) => void): void {
  channel.onmessage = ({ data }: MessageEvent<Session | null>) => {
    hear(data)
  }
}

/** Browsers have locks on HTTPS and on this machine; elsewhere chance keeps tabs apart. */
export async function takeTurn<T>(work: () => Promise<T>): Promise<T> {
  if ('locks' in navigator) return navigator.locks.request(name, work)
  await new Promise((resume) => setTimeout(resume, Math.random() * apartMs))
  return work()
}

const apartMs = 1_500
