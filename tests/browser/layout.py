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
CLIPPED = """() => {
  const found = new Set(), hides = (word) => word === "hidden" || word === "clip";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const drawn = "svg, .unseen, .skip, script, style, noscript, option, select, .strip-plot, [hidden]";
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest(drawn)) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      // A line box is higher than its letters, and what can be scrolled to is not cut off.
      const room = rect.height / 4 + 1;
      let across = rect.width > 1, down = rect.height > 3;
      for (let one = parent; one && (across || down); one = one.parentElement) {
        const style = getComputedStyle(one), box = one.getBoundingClientRect();
        const shortened = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
        const cut = `${node.textContent.trim().slice(0, 40)} in ${one.className || one.id || one.tagName}`;
        const over = rect.bottom > box.bottom + room || rect.top < box.top - room;
        if (down && hides(style.overflowY) && !shortened && over) found.add(cut);
        const wide = rect.right > box.right + 3 || rect.left < box.left - 3;
        if (across && hides(style.overflowX) && !shortened && wide) found.add(cut);
        down &&= !shortened && !["auto", "scroll"].includes(style.overflowY) && style.position !== "fixed";
        across &&= !shortened && !["auto", "scroll"].includes(style.overflowX) && style.position !== "fixed";
      }
    }
  }
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one), lines = one.clientHeight / (parseFloat(style.fontSize) * 1.4);
    if (!["auto", "scroll"].includes(style.overflowY) || one.closest(drawn) || !one.checkVisibility()) continue;
    const low = one.scrollHeight > one.clientHeight + 4 && lines < 2.5;
    if (low) found.add(`${one.className || one.id} is ${lines.toFixed(1)} lines high`);
  }
  return [...found];
}"""
"""Texts that a parent cuts off, and panes to scroll that are too low to read in."""
WHOLE = """(places) => [...document.querySelectorAll(places)].filter((one) => {
  if (!one.checkVisibility()) return false;
  const box = one.getBoundingClientRect();
  for (let outer = one.parentElement; outer; outer = outer.parentElement) {
    if (getComputedStyle(outer).overflowY === "visible") continue;
    const of = outer.getBoundingClientRect();
    if (box.top < of.top - 1 || box.bottom > of.bottom + 1) return true;
  }
  return false;
}).map((one) => one.className || one.textContent.trim())"""
"""Of these elements, those that a pane or the window shows in part only or not at all."""
