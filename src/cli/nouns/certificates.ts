/** `cachefleet certificates`: the certificates of caches with a TLS listener, and their deploys. */
import { certificate as resource } from '../../resources/certificate.js'
import { yesFlag } from '../confirm.js'
import { addVerb, deleteVerb, getVerb, idArgument, listVerb, updateVerb } from '../object-verbs.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Flag, Noun, NounParts, Verb } from '../verb.js'

const parts = toNounParts(resource, {
  alias: 'cert',
  exampleObject: 'shop',
  summary: 'certificates of caches that speak TLS (Varnish 9.0)',
  example: 'certificates renew shop --chain fullchain.pem --key privkey.pem',
})

const certificate: NounParts = {
  ...parts,
  fields: [...parts.fields, ownerField('whose it is, by id or name')].filter(
    ({ name }) => name !== 'chain',
  ),
}

const textFlags: readonly Flag[] = [
  {
    form: '--chain <file>',
    summary: 'PEM: the certificate, then those that issued it; - is standard input',
  },
  { form: '--key <file>', summary: 'PEM: its private key; - is standard input, for both in one' },
]

const importReader = async () => (await import('../certificate-verbs.js')).readCertificate

const waitFlags: readonly Flag[] = [
  { form: '--wait <time>', summary: 'how long to wait, 0 to 600 s, like 60s (the default)' },
  { form: '--detach', summary: 'do not wait; done once the deploy is accepted' },
]

const verbs: readonly Verb[] = [
  {
    name: 'deploy',
    summary: 'deploys it to the agents of its deployments: all load it, then all serve it',
    flags: waitFlags,
    example: 'certificates deploy shop --wait 60s',
    run: async (invocation) =>
      (await import('../certificate-verbs.js')).putCertificate(invocation, certificate, 'deploy'),
  },
  {
    name: 'renew',
    summary: 'replaces chain and key and deploys them: what an ACME client calls',
    flags: [...textFlags, ...waitFlags],
    example: 'certificates renew shop --chain fullchain.pem --key privkey.pem',
    run: async (invocation) =>
      (await import('../certificate-verbs.js')).renewCertificate(invocation, certificate),
  },
  {
    name: 'rollback',
    summary: 'deploys the chain and key that were served before these',
    flags: [...waitFlags, yesFlag],
    example: 'certificates rollback shop --yes',
    run: async (invocation) =>
      (await import('../certificate-verbs.js')).rollBackCertificate(invocation, certificate),
  },
]

export const certificates: Noun = {
  ...certificate,
  verbs: [
    listVerb(certificate, '--sort notAfter'),
    getVerb(certificate),
    addVerb(
      certificate,
      '--name shop --chain fullchain.pem --key privkey.pem --deployments edges',
      {
        summary: 'creates a certificate with its key; `deploy` brings it to agents',
        flags: textFlags,
        importReader,
      },
    ),
    updateVerb(certificate, '--chain fullchain.pem --key privkey.pem', {
      summary: 'changes a certificate; chain and key take effect at its next deploy',
      flags: textFlags,
      importReader,
    }),
    ...verbs.map((verb) => ({ ...verb, arguments: [idArgument(certificate)] })),
    deleteVerb(certificate),
  ],
}
