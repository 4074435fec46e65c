/** Deploys a certificate or rolls it back, one action at a time; waits as long as the API does (60 s). */
import type { Certificate } from '../../../resources/certificate.js'
import { call } from '../../api/call.js'
import { useMutation, type Mutation } from '../../api/mutation.js'
import { toast } from '../../parts/toasts.js'

export interface Verbs extends Omit<Mutation, 'run'> {
  readonly act: (verb: 'deploy' | 'rollback', done: string) => void
}

/** `path`: the certificate's path in the API. */
export function useVerbs(path: string, reload: () => void): Verbs {
  const { run, ...mutation } = useMutation()
  const act: Verbs['act'] = (verb, done) => {
    const work = run(
      () => call<Certificate>('PUT', `${path}/${verb}`),
      ({ stateName }) => {
        toast(stateName === 'Deploying' ? 'It continues in the background.' : done)
      },
    )
    // A refusal is also recorded in the certificate.
    void work.then(reload) // never rejects
  }
  return { ...mutation, act }
}
