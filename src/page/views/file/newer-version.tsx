/** Shown when another user saved a newer version than the one in the editor. Nothing is replaced automatically. */
import { Button, LinkButton } from '../../parts/button.js'
import type { EditedFile } from './edited-file.js'
import type { Versions } from './read-versions.js'

interface NewerVersionProps {
  readonly edited: EditedFile
  readonly versions: Versions
}

export function NewerVersion({ edited, versions }: NewerVersionProps) {
  const {
    newest: { value: newest },
    base: { value: base },
    isOutdated,
    isChanged,
  } = edited
  if (!newest || !base || !isOutdated.value) return null
  const { id, version } = newest.file
  const account = versions.rows?.find((row) => row.version === version)?.account
  return (
    <div class="file-newer tone-warn" role="status">
      <p>
        {account ?? 'Somebody else'} saved version {version} while you were editing version{' '}
        {base.version}.
      </p>
      {isChanged.value ? (
        <Button
          onClick={() => {
            edited.conflict.value = newest
          }}
        >
          Compare both
        </Button>
      ) : (
        <>
          <LinkButton href={`/files/${id}/compare?from=${base.version}&to=${version}`}>
            What changed
          </LinkButton>
          <Button
            onClick={() => {
              edited.showNewest()
            }}
          >
            Show it
          </Button>
        </>
      )}
    </div>
  )
}
