"""A page's layout without a picture: text that lies over other text, and what is cut off or out of sight."""

OVERLAPS = """() => {
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const clip = (box, node) => {
    for (let one = node; one && one !== document.documentElement; one = one.parentElement) {
      const style = getComputedStyle(one);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const of = one.getBoundingClientRect();
      box = {
        left: Math.max(box.left, of.left), right: Math.min(box.right, of.right),
        top: Math.max(box.top, of.top), bottom: Math.min(box.bottom, of.bottom),
      };
    }
    return box;
  };
  // By a bar, a note or a menu, which is meant to lie over the page.
  const drawn = "svg, .unseen, .skip, script, style, noscript, option, .strip-plot";
  const isCovered = (parent, top) => {
    for (let one = top; one && !one.contains(parent); one = one.parentElement) {
      if (["fixed", "sticky", "absolute"].includes(getComputedStyle(one).position)) return true;
    }
    return !top;
  };
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest(drawn)) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      const box = clip(rect, parent);
      // A line box is higher than its letters: a quarter of it may lie over the next.
      const room = (box.bottom - box.top) / 4;
      if (box.right - box.left < 2 || box.bottom - box.top < 4) continue;
      const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
      if (isCovered(parent, document.elementFromPoint(x, y))) continue;
      const words = node.textContent.trim().slice(0, 40);
      seen.push({
        node, words, left: box.left + 1, right: box.right - 1, top: box.top + room, bottom: box.bottom - room,
      });
    }
  }
  const found = [];
  seen.forEach((one, at) => seen.slice(at + 1).forEach((other) => {
    const across = one.left < other.right && other.left < one.right;
    if (one.node === other.node || !across) return;
    if (one.top < other.bottom && other.top < one.bottom) found.push(`${one.words} | ${other.words}`);
  }));
  return found;
}"""
"""Pairs of texts in the window that lie over each other. What a bar or a note covers on purpose does not count."""
NO_WIDER = "document.documentElement.scrollWidth <= innerWidth + 1"
IN_SIGHT = """(one) => {
  const box = one.getBoundingClientRect();
  const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  return box.top >= 0 && box.bottom <= innerHeight && Boolean(top) && one.contains(top);
}"""
CONTROLS_HIDDEN = """(places) => [...document.querySelectorAll(places)].filter((one) => {
  if (!one.checkVisibility()) return false;
  one.scrollIntoView({ block: "nearest" });
  const box = one.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const top = document.elementFromPoint(x, y), within = box.left >= 0 && box.right <= innerWidth && box.width >= 20;
  return !within || !top || !(one.contains(top) || top.contains(one));
}).map((one) => one.textContent.trim() || one.id || one.className)"""
"""Controls that a pointer cannot reach, even after scrolling: outside of the window, too narrow, or covered."""
EMPTY_SHARE = """() => {
  const stage = document.querySelector(".stage").getBoundingClientRect();
  const panes = [...document.querySelectorAll(".talk, .evid, .machine, .happened")];
  const filled = panes.map((one) => one.getBoundingClientRect());
  const bottom = document.querySelector(".scrubber").getBoundingClientRect().top;
  return 1 - filled.reduce((all, box) => all + box.width * box.height, 0) / (stage.width * (bottom - stage.top));
}"""
"""The share of the room between the caption and the bar of time that no pane takes."""
