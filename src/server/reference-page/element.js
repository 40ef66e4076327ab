// Text is always set as text, never as markup.

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value
    else made.setAttribute(key, value)
  }
  made.append(...children.flat().filter((child) => child !== undefined && child !== ''))
  return made
}

/** Paragraphs with `code`, the only markup in descriptions. */
export function prose(text, className = '') {
  return (text ?? '')
    .split('\n\n')
    .filter(Boolean)
    .map((paragraph) => element('p', { className }, ...inline(paragraph)))
}

export function inline(text) {
  return text.split('`').map((part, index) => (index % 2 ? element('code', {}, part) : part))
}

/** A text with a button that copies it. */
export function copyable(text, label) {
  const pre = element('pre', { tabIndex: 0, 'aria-label': label }, text)
  const button = element('button', { type: 'button', 'aria-label': `Copy ${label}` }, 'Copy')
  button.addEventListener('click', async () => {
    // A page over plain HTTP has no clipboard access: the text is only selected.
    getSelection().selectAllChildren(pre)
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    button.textContent = isCopied ? 'Copied' : 'Selected'
    pre.focus()
  })
  return element('div', { className: 'copyable' }, pre, button)
}
