/** Says that somebody saved a newer version than the one in the editor. Nothing is taken over by itself. */
import { Button, LinkButton } from '../../parts/button.js'
import type { EditedFile } from './edited-file.js'
import type { Versions } from './read-versions.js'

interface NewerVersionProps {
  readonly edited: EditedFile
  readonly versions: Versions
}

export function NewerVersion({ edited, versions }: NewerVersionProps) {
  const { newest, base, isOutdated, isChanged } = edited
  if (!newest || !base || !isOutdated) return null
  const { id, version } = newest.file
  const account = versions.rows?.find((row) => row.version === version)?.account
  return (
    <div class="file-newer tone-warn" role="status">
      <p>
        Version {version}
        {account !== undefined && ` by ${account}`} is there by now; this was begun from version{' '}
        {base.version}.
      </p>
      {isChanged ? (
        <Button onClick={edited.openConflict}>Look at both</Button>
      ) : (
        <>
          <LinkButton href={`/files/${id}/compare?from=${base.version}&to=${version}`}>
            What changed
          </LinkButton>
          <Button onClick={edited.show}>Show it</Button>
        </>
      )}
    </div>
  )
}
