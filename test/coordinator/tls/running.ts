/** A coordinator in this process that issues its certificate, and agents that dial it. */
import { join } from 'node:path'
import { pino } from 'pino'
import { createCaPin } from '../../../src/agent/link/ca-pin.js'
import { dialCoordinator } from '../../../src/agent/link/dial.js'
import { startCoordinator } from '../../../src/coordinator/coordinator.js'
import { administrator, type TestEnd } from '../../support/daemon.js'

export const log = pino({ level: 'silent' })

export interface OwnCoordinator {
  readonly port: number
  readonly stateDir: string
  readonly makeToken: () => Promise<string>
}

/** Listens on all addresses of this host, as with `--listen 0.0.0.0:0`. */
export async function startOwnCoordinator(
  t: TestEnd,
  stateDir: string,
  tls: 'own' | null = 'own',
): Promise<OwnCoordinator> {
  const coordinator = await startCoordinator(
    {
      stateDir,
      tls,
      tlsNames: ['fleet.test'],
      publicUrl: null,
      listen: { host: '0.0.0.0', port: 0 },
      storeUrl: `sqlite:${join(stateDir, 'coordinator.db')}`,
      busUrl: 'in-process',
      apis: new Set(['controller']),
      licenseKeyFile: null,
      trustedProxies: [],
      connectionsPerAddress: 1000,
      statsArchives: 1,
      secretKeyFile: join(stateDir, 'secret.key'),
      adminUser: administrator.user,
      adminPassword: administrator.password,
      stdoutIsTerminal: false,
      settings: {
        heartbeatMs: 5000,
        statsIntervalMs: 10_000,
        apiLogDays: 7,
        accessTtlSeconds: 600,
        refreshTtlSeconds: 3600,
        allowedIncludes: new Set(),
        allowedModules: new Set(),
        webhookNetworks: [],
      },
    },
    log,
  )
  t.teardown(() => coordinator.close())
  return {
    port: Number(new URL(coordinator.address).port),
    stateDir,
    makeToken: () => coordinator.createJoinToken('edge', 1),
  }
}

interface Dialled {
  readonly url: string
  /** The agent's state dir. */
  readonly folder: string
  readonly token?: string
  readonly caFile?: string
  /** The agent was never accepted before. */
  readonly isKeyNew?: boolean
}

/** Resolves when the coordinator answers 101: nothing is sent on the link yet, and the token is not used up. */
export async function dial({
  url,
  folder,
  token,
  caFile,
  isKeyNew = true,
}: Dialled): Promise<void> {
  const joinToken = (): Promise<string | undefined> => Promise.resolve(token)
  const pin = createCaPin({ file: caFileIn(folder), joinToken })
  const socket = await dialCoordinator({
    address: { url, caFile: caFile ?? null, pin },
    name: 'edge',
    key: 'k'.repeat(64),
    isKeyNew,
    joinToken,
    signal: AbortSignal.timeout(20_000),
  })
  socket.terminate()
}

export function caFileIn(folder: string): string {
  return join(folder, 'coordinator-ca.pem')
}
