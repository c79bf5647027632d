// Arrows as lines: around boxes, as the layout left room for them, or straight from box to box.

// Lines and curves in turns.
export function curve(points) {
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let place = 1; place < points.length; place += 1) {
    const [[fromX, fromY], [x, y]] = [points[place - 1], points[place]];
    const middle = (fromY + y) / 2;
    path += place % 2 ? `V${y}` : `C${fromX} ${middle} ${x} ${middle} ${x} ${y}`;
  }
  return path;
}

// The points of an arrow between boxes that stand anywhere: down, up, or to the side where they are side by side.
export function pointsBetween(parent, child) {
  const [one, other] = [parent, child].map(({ x, width }) => x + width / 2);
  if (child.y >= parent.y + parent.height) return between([one, parent.y + parent.height], [other, child.y]);
  if (child.y + child.height <= parent.y) return between([one, parent.y], [other, child.y + child.height]);
  const [from, to] = one < other ? [parent.x + parent.width, child.x] : [parent.x, child.x + child.width];
  return between([from, parent.y + parent.height / 2], [to, child.y + child.height / 2]);
}

const between = (from, to) => [from, from, to];
