/** Shares the session between the tabs of one browser. */
import type { Whoami } from '../../resources/session.js'

export interface Access {
  readonly token: string
  /** Lifetime when it was issued. */
  readonly lifetimeMs: number
}

export interface Session {
  readonly access: Access
  readonly who: Whoami
}

const name = 'cachefleet-session'
const channel = new BroadcastChannel(name)

/** Null: logged out. */
export function notifyTabs(session: Session | null): void {
  channel.postMessage(session)
}

export function subscribeToTabs(notify: (session: Session | null) => void): void {
  channel.onmessage = ({ data }: MessageEvent<Session | null>) => {
    notify(data)
  }
}
