"""prediction_text.h for Python, on the data objects of any VTK."""

SUFFIX = "_predicted"


def leaves(data):
    if not data.IsA("vtkCompositeDataSet"):
        return [data]
    iterator = data.NewIterator()
    found = []
    while not iterator.IsDoneWithTraversal():
        found.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
    return found


def print_prediction(data):
    """A line per entry (point or cell) of all leaves with the predicted arrays side by side."""
    for leaf in leaves(data):
        for attributes in (leaf.GetPointData(), leaf.GetCellData()):
            arrays = [attributes.GetArray(i) for i in range(attributes.GetNumberOfArrays())]
            arrays = [array for array in arrays if array.GetName().endswith(SUFFIX)]
            for row in range(arrays[0].GetNumberOfTuples() if arrays else 0):
                print(*(repr(value) for array in arrays for value in array.GetTuple(row)))
