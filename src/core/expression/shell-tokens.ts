/** Parts of shell text that are recognised as a whole at one position. */

/** The start of a here-document, with its delimiter. */
export const HERE_DOCUMENT_START =
  /<<(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([A-Za-z0-9_.-]+))(?=[\s;&|<>()]|$)/y
/** A parameter expansion with an operator after which a value may follow: a text or a pattern. */
export const SHELL_PARAMETER = /\$\{(?:[A-Za-z_]\w*|\d+|[@*?$!-])(?::?[-=+?]|##?|%%?|\/|\^\^?|,,?)/y
export const SHELL_VARIABLE = /\$(?:[A-Za-z_]\w*|[0-9@*#?!-])/y
export const EMPTY_GROUP = /\([ \t]*\)/y

export const NAMES_COMMAND =
  'is in the place of a command name, so the value would decide what is run'
