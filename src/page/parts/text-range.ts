/** A place in a text: from and to, in its own units; at its end both are its length. */
export interface TextRange {
  readonly from: number
  readonly to: number
}
