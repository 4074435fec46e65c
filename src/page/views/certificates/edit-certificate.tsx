/** Changes the name and the deployments of a certificate, or its chain and key. */
import { useSignal } from '@preact/signals'
import type { Certificate } from '../../../resources/certificate.js'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { saveChange } from '../../parts/save-change.js'
import { DeploymentsField, toDeployments } from './deployments-field.js'
import { PemFields, usePem } from './pem-fields.js'

/** The certificate when the dialog was opened, to avoid overwriting changes saved by others since. */
export interface Begun {
  readonly certificate: Certificate
  readonly etag: string | null
}

interface EditProps {
  readonly begun: Begun
  readonly onSaved: () => void
  readonly onClose: () => void
}

export function EditCertificate({ begun: { certificate, etag }, onSaved, onClose }: EditProps) {
  const mutation = useMutation()
  const was = certificate.deployments.map(({ id }) => id)
  const name = useSignal(certificate.name)
  const deployments = useSignal<readonly number[]>(was)
  const save = (): void => {
    const before = { name: certificate.name, ...toDeployments(was) }
    const after = { name: name.value, ...toDeployments(deployments.value) }
    const change = { before, after, etag, then: onSaved, close: onClose }
    void saveChange(mutation, { path: `/certificates/${certificate.id}`, ...change }) // never rejects
  }
  return (
    <Dialog title="Edit the certificate" onClose={onClose}>
      <Form mutation={mutation} verb="Save" names={['name']} onSubmit={save} onCancel={onClose}>
        <TextField
          label="Name"
          name="name"
          value={name}
          error={mutation.error}
          autoFocus
          required
        />
        <DeploymentsField owner={certificate.organization} value={deployments} />
        <p class="field-hint">Other deployments count from the next deploy on.</p>
      </Form>
    </Dialog>
  )
}

/** Replaces chain and key; `onSaved` decides what follows. */
export function RenewCertificate({ begun: { certificate, etag }, onSaved, onClose }: EditProps) {
  const mutation = useMutation()
  const pem = usePem()
  const send = (): Promise<void> =>
    mutation.run(
      () => call('PUT', `/certificates/${certificate.id}`, { body: pem.take(), ifMatch: etag }),
      onSaved,
    )
  return (
    <Dialog title={`Renew ${certificate.name}`} onClose={onClose}>
      <Form
        mutation={mutation}
        verb="Renew and deploy"
        names={['chain', 'key']}
        onSubmit={() => void send()} // never rejects
        onCancel={onClose}
      >
        <PemFields pem={pem} error={mutation.error} />
        <p class="field-hint">
          They are deployed at once: on all caches, or on none when one refuses them.
        </p>
      </Form>
    </Dialog>
  )
}
