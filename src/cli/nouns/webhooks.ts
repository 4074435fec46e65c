/** `cachefleet webhooks`: addresses to which events are posted. */
import { webhook as resource } from '../../resources/webhook.js'
import { addVerb, deleteVerb, getVerb, idArgument, listVerb, updateVerb } from '../object-verbs.js'
import { ownerField, toNounParts } from '../resource-noun.js'
import type { Flag, Noun, NounParts } from '../verb.js'

const parts = toNounParts(resource, {
  exampleObject: 'pager',
  summary: 'where events are posted to: signed, in order, at least once',
  example: 'webhooks add --name pager --url https://hooks.example.com/fleet --types problem',
})

const webhook: NounParts = {
  ...parts,
  fields: [...parts.fields, ownerField('whose it is, by id or name')],
}

const secretFlags: readonly Flag[] = [
  { form: '--secret-stdin', summary: 'the secret is the first line of standard input' },
  { form: '--secret-file <file>', summary: 'the secret is the first line of a file' },
]

const importReader = async () => (await import('../secret-bodies.js')).readWebhook

export const webhooks: Noun = {
  ...webhook,
  verbs: [
    listVerb(webhook, '--filter failing=true'),
    getVerb(webhook),
    addVerb(
      webhook,
      '--name pager --url https://hooks.example.com/fleet --types problem --filter "opened.severity=3"',
      {
        summary: 'creates a webhook; without a secret one is made and shown once',
        flags: secretFlags,
        importReader,
      },
    ),
    updateVerb(webhook, '--enabled', {
      summary: 'changes a webhook; queued deliveries are retried at once',
      flags: secretFlags,
      importReader,
    }),
    {
      name: 'test',
      summary: 'sends an event of type test, once; fails when it is not delivered',
      arguments: [idArgument(webhook)],
      example: 'webhooks test pager',
      run: async (invocation) =>
        (await import('../webhook-verbs.js')).testWebhook(invocation, webhook),
    },
    {
      name: 'deliveries',
      summary: 'shows what was sent, and what waits, the newest first',
      arguments: [idArgument(webhook)],
      example: 'webhooks deliveries pager',
      run: async (invocation) =>
        (await import('../webhook-verbs.js')).showDeliveries(invocation, webhook),
    },
    deleteVerb(webhook),
  ],
}
