/** Stores a certificate with its key; a deploy puts it on caches. */
import { useSignal } from '@preact/signals'
import { useLocation } from 'wouter-preact'
import type { Certificate } from '../../../resources/certificate.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { readWho } from '../../session/rights.js'
import { DeploymentsField, toDeployments } from './deployments-field.js'
import { PemFields, usePem } from './pem-fields.js'

export function NewCertificate({ onClose }: { readonly onClose: () => void }) {
  const mutation = useMutation()
  const [, go] = useLocation()
  const name = useSignal('')
  const deployments = useSignal<readonly number[]>([])
  const pem = usePem()
  const { error } = mutation
  const make = (): Promise<void> =>
    mutation.run(
      () => {
        const body = { name: name.value, ...toDeployments(deployments.value), ...pem.take() }
        return call<Certificate>('POST', '/certificates', { body })
      },
      ({ id }) => {
        go(`/certificates/${id}`)
      },
    )
  return (
    <Dialog title="New certificate" onClose={onClose}>
      <Form
        mutation={mutation}
        verb="Create"
        names={['name', 'chain', 'key']}
        onSubmit={() => void make()} // never rejects
        onCancel={onClose}
      >
        <TextField label="Name" name="name" value={name} error={error} autoFocus required />
        <PemFields pem={pem} error={error} />
        <DeploymentsField owner={readWho()?.organization ?? null} value={deployments} />
      </Form>
    </Dialog>
  )
}
