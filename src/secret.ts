/** `cachefleetd secret rotate|reset`: a new key for the secrets in the store, and the recovery from a lost key. */
import { stdout } from 'node:process'
import { ConfigError, type Environment } from '../config/load.js'
import type { ForgottenSecrets } from './coordinator/administration.js'
import { openServiceStore } from './service-store.js'

const usage = `usage: cachefleetd secret rotate|reset [settings of the daemon]
rotate: a new secret key seals all secrets in the store; coordinators may run.
reset: without the key: ends all sessions and forgets what it sealed; coordinators must not run.`

/** Rejects when nothing was done. */
export async function runSecret(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const [verb, ...words] = arguments_
  if (verb !== 'rotate' && verb !== 'reset') throw new ConfigError(usage)
  const { administration, secretKeyFile } = await openServiceStore(words, { environment, usage })
  try {
    const text =
      verb === 'rotate'
        ? describeRotation(await administration.rotateSecretKey(), secretKeyFile)
        : describeReset(await administration.resetSecrets())
    stdout.write(text)
  } finally {
    await administration.close()
  }
}

function describeRotation(count: number, file: string): string {
  return `${count} secrets are sealed with a new key, which is in ${file}
Coordinators of this host have it already. Copy the file to every other host with a coordinator of this store: until then
logins by identity providers are refused there, and a coordinator that ends there does not start again.
A backup of the store from before needs the key from before.
`
}

function describeReset({
  sessions,
  providers,
  certificates,
  webhooks,
  badKeyFile,
}: ForgottenSecrets): string {
  const lines = [
    `${sessions} sessions have ended, API tokens among them: users log in again`,
    ...providers.map(
      ({ id, baseUrl, organizationName }) =>
        `organization ${organizationName}: the client secret of its identity provider ${baseUrl} is forgotten; ` +
        `give it again (cachefleet idps update ${id} --client-secret-stdin)`,
    ),
    ...certificates.map(
      (name) =>
        `the key of certificate ${name} is forgotten; caches that have it serve on. Give it again ` +
        '(cachefleet certificates renew, with --chain and --key)',
    ),
    ...webhooks.map(
      (name) =>
        `the address and the secret of webhook ${name} are forgotten, and it is turned off; give them again ` +
        '(cachefleet webhooks update, with --url, --secret-stdin and --enabled)',
    ),
    ...(badKeyFile === null ? [] : [`the file that held no key is ${badKeyFile} now`]),
    'the next start of a coordinator makes a secret key where there is none',
  ]
  return `${lines.join('\n')}\n`
}
