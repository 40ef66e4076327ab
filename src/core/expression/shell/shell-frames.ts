import type { ShellCommand } from './shell-command.ts'

/** The kind of position in shell text; `lost` where shells disagree about the text. */
export type ShellPlace = QuotedPlace | 'bare' | 'program' | 'sum' | 'parameter' | 'lost'
type QuotedPlace = 'double' | 'single' | 'here' | 'raw-here' | 'comment'

export interface Frame {
  readonly place: ShellPlace
  /** The text that ends the frame. */
  readonly end: string
  /** The command whose words are read in this frame, if it is not that of the enclosing frame. */
  readonly command?: ShellCommand
  /** The text after the frame starts another command. */
  readonly isGroup?: boolean
}

export interface HereDocument {
  readonly word: string
  readonly isRaw: boolean
  readonly isTabbed: boolean
}

/** Kinds of positions in which no value is allowed at any nesting depth. */
export const CLOSED: ReadonlySet<ShellPlace> = new Set(['sum', 'parameter', 'program'])
