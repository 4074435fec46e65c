/** A range in a text, in code units; at the end of the text both values are its length. */
export interface TextRange {
  readonly from: number
  readonly to: number
}
