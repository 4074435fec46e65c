/** Makes a new object of the list that is shown: a button, and the key n. */
import { useKey } from '../shell/keys.js'
import { Button } from './button.js'

export function NewButton({
  noun,
  onPress,
}: {
  readonly noun: string
  readonly onPress: () => void
}) {
  useKey('n', `New ${noun}`, onPress)
  return (
    <Button kind="main" icon="add" onClick={onPress}>
      New {noun}
    </Button>
  )
}
