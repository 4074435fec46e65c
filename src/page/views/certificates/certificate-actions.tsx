/** Actions on a certificate. */
import type { Certificate } from '../../../resources/certificate.js'
import { Button } from '../../parts/button.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { ErrorNote } from '../../parts/error-note.js'
import { ObjectActions } from '../../parts/object-actions.js'
import { useDelete } from '../../parts/use-delete.js'
import { useDialog } from '../../parts/use-dialog.js'
import { EditCertificate, RenewCertificate, type Begun } from './edit-certificate.js'
import type { Verbs } from './use-verbs.js'

interface CertificateActionsProps extends Begun {
  readonly verbs: Verbs
  /** The API path. */
  readonly path: string
  readonly reload: () => void
}

export function CertificateActions(props: CertificateActionsProps) {
  const { certificate, etag, verbs, path, reload } = props
  const { name } = certificate
  const editing = useDialog<Begun>()
  const renewing = useDialog<Begun>()
  const deletion = useDelete()
  const rollBack = async (): Promise<void> => {
    if (await confirmRollback(certificate)) verbs.act('rollback', `${name} rolled back.`)
  }
  return (
    <>
      <Button
        kind="main"
        isBusy={verbs.isBusy}
        onClick={() => {
          verbs.act('deploy', `${name} deployed.`)
        }}
      >
        Deploy
      </Button>
      <Button
        icon="refresh"
        isBusy={verbs.isBusy}
        onClick={() => {
          if (!verbs.isBusy) renewing.open({ certificate, etag })
        }}
      >
        Renew…
      </Button>
      {certificate.deployed && (
        <Button isBusy={verbs.isBusy} onClick={() => void rollBack()}>
          Roll back
        </Button>
      )}
      <ObjectActions
        verb="Edit"
        isDeleting={deletion.isBusy}
        onEdit={() => {
          editing.open({ certificate, etag })
        }}
        onDelete={() => void deletion.ask({ path, ...describeDeletion(certificate) })}
      />
      {deletion.error && <ErrorNote error={deletion.error} />}
      {editing.subject && (
        <EditCertificate begun={editing.subject} onSaved={reload} onClose={editing.close} />
      )}
      {renewing.subject && (
        <RenewCertificate
          begun={renewing.subject}
          onSaved={() => {
            renewing.close()
            reload()
            verbs.act('deploy', `${name} renewed and deployed.`)
          }}
          onClose={renewing.close}
        />
      )}
    </>
  )
}

function confirmRollback({ name }: Certificate): Promise<boolean> {
  return confirmDestruction({
    title: `Roll back ${name}?`,
    text: 'The chain and key that were served before these are deployed again.',
    verb: 'Roll back',
  })
}

function describeDeletion({ name, agentStates }: Certificate) {
  const count = agentStates.filter(({ state }) => state === 'applied').length
  const served = `${count} ${count === 1 ? 'cache stops' : 'caches stop'} to serve it. `
  return {
    noun: 'certificate',
    name,
    home: '/certificates',
    text: `${count > 0 ? served : ''}Its key is gone and cannot be brought back.`,
  }
}
