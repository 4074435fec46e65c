/** Operations on a coordinator's store from another process, whether or not the daemon is running. */
import type { Logger } from 'pino'
import { createInProcessBus } from './bus/in-process.js'
import { openStore } from './store/open-store.js'
import { noArchive } from './statistics/store/no-archive.js'
import { createBackgroundWork } from './background.js'
import { addSystemAdministrator, setPassword } from './identity/first-administrator.js'
import {
  resetSecrets,
  rotateSecretKey,
  type ForgottenSecrets,
} from './identity/rotate-secret-key.js'
import { createLeases } from './store/leases.js'
import type { StateService } from './service.js'
import { createLiveSamples } from './statistics/live-samples.js'

export type { ForgottenSecrets } from './identity/rotate-secret-key.js'

export interface Administration {
  /** Ends the account's sessions; the running daemon notices within 5 s. Rejects with FleetError not-found or invalid. */
  setPassword(name: string, password: string): Promise<void>
  /** Adds a system administrator. Rejects with FleetError conflict or invalid. */
  addAdministrator(name: string, password: string): Promise<void>
  /** The running daemon loads the new key from its file. Returns the number of secrets sealed again. */
  rotateSecretKey(): Promise<number>
  /** Rejects with FleetError conflict while a coordinator runs. */
  resetSecrets(): Promise<ForgottenSecrets>
  close(): Promise<void>
}

interface AdministrationConfig {
  readonly stateDir: string
  readonly storeUrl: string
  readonly secretKeyFile: string
}

export async function openAdministration(
  config: AdministrationConfig,
  log: Logger,
): Promise<Administration> {
  const store = await openStore(config.storeUrl, log)
  // This bus has no subscribers: other processes detect changes by themselves (docs/behaviour.md, Tokens).
  const bus = createInProcessBus()
  const service: StateService = {
    store,
    bus,
    statistics: noArchive,
    liveSamples: createLiveSamples(bus),
    now: Date.now,
    coordinatorId: '',
    settings: {
      heartbeatMs: 0,
      statsIntervalMs: 0,
      accessTtlSeconds: 0,
      refreshTtlSeconds: 0,
      apiLogDays: 0,
      allowedIncludes: new Set(),
      allowedModules: new Set(),
      webhookNetworks: [],
    },
    background: createBackgroundWork(),
    leases: createLeases({ store, now: Date.now, isAlone: false }),
    observeDeploy: () => undefined,
    observeInvalidation: () => undefined,
    observeDelivery: () => undefined,
  }
  return {
    setPassword: (name, password) => setPassword(service, config.stateDir, name, password),
    addAdministrator: (name, password) => addSystemAdministrator(service, name, password),
    rotateSecretKey: () => rotateSecretKey(store, config.secretKeyFile),
    resetSecrets: () => resetSecrets(store, config.secretKeyFile, Date.now()),
    close: () => store.close(),
  }
}
