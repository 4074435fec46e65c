/** Calls every operation of invalidations successfully. */
import type { Answered, Given } from './documented.js'

interface Calls {
  readonly done: (operationId: string, given?: Given) => Promise<Answered>
  readonly made: (operationId: string, body: unknown) => Promise<number>
}

export async function tryInvalidations({ done, made }: Calls): Promise<void> {
  // Without a server at the cache's address, a purge is retried.
  const at = {
    id: await made('createInvalidation', {
      type: 'purge',
      urls: ['http://www.example.com/'],
      target: { all: true },
    }),
  }
  await done('previewInvalidation', {
    body: { type: 'ban', expression: 'obj.status == 404', target: { all: true } },
  })
  await done('listInvalidations')
  await done('getInvalidation', { at })
  await done('cancelInvalidation', { at })
  await done('retryInvalidation', { at })
  await done('cancelInvalidation', { at })
  await done('deleteInvalidation', { at })
}
