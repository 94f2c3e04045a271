// What is wrong with the texts that a page shows: those that no catalogue wrote (in a pseudo-language), those that are cut
// off, run out of their box or of the window, and those that stand on each other. `words` are the tokens of the page.
(words) => {
  const OWN =
    "code, pre, kbd, .katex, bdi, [data-testid=stIconMaterial], [lang]:not(html), [data-testid=stSkipToContent]";
  const BOX = "button, a, [role=tab], [role=button], th, td, summary";
  const plain = new RegExp(`\\b(?!(?:${words.join("|")})\\b)\\p{L}*[aeiou]\\p{L}+`, "u");
  const quoted = /“[^”]*”/gu;
  const up = (node) => node.parentElement ?? node.getRootNode().host ?? null;
  const within = (node, selector) => {
    for (let at = node; at; at = up(at.getRootNode())) {
      const found = at.closest?.(selector);
      if (found) return found;
      if (!(at.getRootNode() instanceof ShadowRoot)) return null;
    }
    return null;
  };
  const texts = [];
  const controls = [];
  const collect = (root) => {
    for (const node of root.childNodes) {
      if (node.nodeType === Node.TEXT_NODE && node.nodeValue.trim()) texts.push(node);
      else if (node.nodeType === Node.ELEMENT_NODE && !/^(SCRIPT|STYLE|TITLE|OPTION)$/i.test(node.tagName)) {
        if (/^(SELECT|INPUT|BUTTON)$/.test(node.tagName)) controls.push(node);
        if (node.shadowRoot) collect(node.shadowRoot);
        collect(node);
      }
    }
  };
  collect(document.body);
  const name = (node) =>
    `${node.tagName.toLowerCase()}.${String(node.className?.baseVal ?? node.className).slice(0, 50)}`;
  const found = [];
  const say = (what, text, node, more = "") =>
    found.push(`${what}: ${text.slice(0, 70)} <${name(node)}> ${more}`.trim());
  const seen = [];
  for (const node of texts) {
    const element = up(node);
    if (within(element, "[data-testid=stIconMaterial]")) continue;
    if (!element?.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    let rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    const text = node.nodeValue.trim();
    let floats = false;
    let cut = null;
    let hidden = false;
    for (let at = element; at && at !== document.body; at = up(at)) {
      const style = getComputedStyle(at);
      if (style.clip !== "auto" || style.clipPath !== "none") hidden = true;
      floats ||= style.position === "fixed" || style.position === "sticky";
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const box = at.getBoundingClientRect();
      const beyond = rects.some(({ left, right }) => right > box.right + 2 || left < box.left - 2);
      const scrolls = /auto|scroll/.test(style.overflowX) || style.textOverflow === "ellipsis";
      if (beyond && !scrolls) cut = at;
      rects = rects
        .map((rect) => ({
          left: Math.max(rect.left, box.left),
          right: Math.min(rect.right, box.right),
          top: Math.max(rect.top, box.top),
          bottom: Math.min(rect.bottom, box.bottom),
        }))
        .filter(({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1);
    }
    if (hidden || !rects.length) continue;
    if (plain.test(text.replace(quoted, "")) && !within(element, OWN)) say("by no catalogue", text, element);
    if (cut) say("cut off", text, element, `by ${name(cut)}`);
    const box = within(element, BOX);
    if (box && !within(element, ".katex")) {
      const { left, right } = box.getBoundingClientRect();
      if (rects.some((rect) => rect.right > right + 2 || rect.left < left - 2))
        say("out of its box", text, element, `of ${name(box)}`);
    }
    if (rects.some(({ right, left }) => right > innerWidth + 1 || left < -1))
      say("out of the window", text, element);
    seen.push({ text, element, rects, floats });
  }
  for (const node of controls) {
    const { left, right, width } = node.getBoundingClientRect();
    let clipped = false;
    for (let at = up(node); at; at = up(at)) clipped ||= getComputedStyle(at).overflowX !== "visible";
    if (!clipped && width > 1 && node.checkVisibility() && (right > innerWidth + 1 || left < -1))
      say("out of the window", node.value ?? "", node);
  }
  const together = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 5;
  const alike = (a, b) => b && ["left", "right", "top", "bottom"].every((side) => Math.abs(a[side] - b[side]) < 0.5);
  seen.forEach((one, at) => {
    if (one.floats || within(one.element, ".katex")) return;
    for (const other of seen.slice(at + 1)) {
      if (other.floats || other.element === one.element || within(other.element, ".katex")) continue;
      if (one.text === other.text && one.rects.every((a, nth) => alike(a, other.rects[nth]))) continue; // it reads as one
      if (one.rects.some((a) => other.rects.some((b) => together(a, b))))
        say("on another", one.text, one.element, `× ${other.text.slice(0, 40)} <${name(other.element)}>`);
    }
  });
  return found;
};
